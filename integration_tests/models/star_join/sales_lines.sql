-- One fact with its dimensions, the everyday star.
select
    i.item_id,
    o.order_id,
    cast(o.ordered_at as date) as order_date,
    c.customer_id,
    c.region_code as customer_region,
    c.segment,
    p.product_id,
    p.category,
    s.store_id,
    s.name as store_name,
    i.quantity,
    cast(i.quantity * i.unit_price * (1 - i.discount) as decimal(14, 2)) as amount
from {{ source('shop_raw', 'order_items') }} as i
inner join {{ source('shop_raw', 'orders') }} as o on i.order_id = o.order_id
inner join {{ source('shop_raw', 'customers') }} as c on o.customer_id = c.customer_id
inner join {{ source('shop_raw', 'products') }} as p on i.product_id = p.product_id
inner join {{ source('shop_raw', 'stores') }} as s on o.store_id = s.store_id
where o.status <> 'cancelled'
