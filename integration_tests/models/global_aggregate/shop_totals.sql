-- Always exactly one row, also when there is no order at all.
select
    count(*) as items,
    sum(quantity) as pieces,
    sum(quantity * unit_price) as gross_amount,
    avg(discount) as average_discount,
    min(unit_price) as cheapest,
    max(unit_price) as dearest
from {{ source('shop_raw', 'order_items') }}
