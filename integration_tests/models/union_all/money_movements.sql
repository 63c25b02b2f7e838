select
    'payment' as kind,
    p.order_id,
    p.amount,
    p.paid_at as moved_at
from {{ source('shop_raw', 'payments') }} as p
union all
select
    'refund' as kind,
    o.order_id,
    -p.amount as amount,
    o.ordered_at as moved_at
from {{ source('shop_raw', 'orders') }} as o
inner join {{ source('shop_raw', 'payments') }} as p on o.order_id = p.order_id
where o.status = 'returned'
