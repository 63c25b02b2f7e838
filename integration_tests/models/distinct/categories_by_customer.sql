select distinct
    o.customer_id,
    p.category
from {{ source('shop_raw', 'orders') }} as o
inner join {{ source('shop_raw', 'order_items') }} as i on o.order_id = i.order_id
inner join {{ source('shop_raw', 'products') }} as p on i.product_id = p.product_id
