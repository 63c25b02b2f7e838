{{ config(materialized='table', tblproperties={'delta.enableChangeDataFeed': 'true'}) }}

select
    product_id,
    category,
    list_price,
    case when list_price < 25 then 'low' when list_price < 60 then 'middle' else 'high' end as price_band
from {{ source('shop_raw', 'products') }}
