-- Always exactly one row, also when there is no order at all.
select
    count(*) as items,
    sum(quantity) as pieces,
    sum(quantity * unit_price) as gross_amount,
    avg(discount) as average_discount
from {{ source('shop_raw', 'order_items') }}
