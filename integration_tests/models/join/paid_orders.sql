select
    o.order_id,
    o.customer_id,
    p.payment_id,
    p.method,
    p.amount,
    datediff(p.paid_at, o.ordered_at) as days_to_payment
from {{ source('shop_raw', 'orders') }} as o
inner join {{ source('shop_raw', 'payments') }} as p on o.order_id = p.order_id
where o.status <> 'cancelled'
