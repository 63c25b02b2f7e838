select
    o.customer_id,
    count(*) as orders,
    sum(p.amount) as spent,
    sum(p.amount) / count(*) as spent_per_order,
    count(*) filter (where p.method = 'card') as paid_by_card
from {{ source('shop_raw', 'orders') }} as o
inner join {{ source('shop_raw', 'payments') }} as p on o.order_id = p.order_id
group by o.customer_id
having count(*) >= 8 and sum(p.amount) / count(*) > 150
