select
    'ordered' as event,
    order_id,
    ordered_at as happened_at
from {{ source('shop_raw', 'orders') }}
union all
select
    'paid' as event,
    order_id,
    paid_at as happened_at
from {{ source('shop_raw', 'payments') }}
