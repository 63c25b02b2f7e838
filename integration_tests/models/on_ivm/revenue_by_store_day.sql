select
    store_id,
    order_date,
    count(*) as items,
    sum(amount) as revenue,
    avg(amount) as average_amount
from {{ ref('sales_lines') }}
group by store_id, order_date
