-- Orders without a store come from the web shop.
select
    order_id,
    customer_id,
    upper(status) as status,
    cast(ordered_at as date) as order_date,
    coalesce(note, '') = 'gift' as is_gift
from {{ source('shop_raw', 'orders') }}
where
    store_id is null
    and status <> 'cancelled'
