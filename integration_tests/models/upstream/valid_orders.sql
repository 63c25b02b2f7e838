{{ config(materialized='view') }}

select
    order_id,
    customer_id,
    store_id,
    cast(ordered_at as date) as order_date
from {{ source('shop_raw', 'orders') }}
where status not in ('cancelled', 'returned')
