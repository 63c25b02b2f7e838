select distinct
    store_id,
    customer_id
from {{ source('shop_raw', 'orders') }}
where store_id is not null
