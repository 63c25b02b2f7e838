{{ config(materialized='ephemeral') }}

select
    item_id,
    order_id,
    product_id,
    quantity,
    cast(quantity * unit_price * (1 - discount) as decimal(14, 2)) as amount
from {{ source('shop_raw', 'order_items') }}
