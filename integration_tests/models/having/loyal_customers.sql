select
    c.customer_id,
    c.name,
    count(*) as orders,
    sum(p.amount) as spent,
    sum(p.amount) / count(*) as spent_per_order,
    count(*) filter (where p.method = 'card') as paid_by_card
from {{ source('shop_raw', 'customers') }} as c
inner join {{ source('shop_raw', 'orders') }} as o on c.customer_id = o.customer_id
inner join {{ source('shop_raw', 'payments') }} as p on o.order_id = p.order_id
group by c.customer_id, c.name
having count(*) >= 8 and sum(p.amount) / count(*) > 150
