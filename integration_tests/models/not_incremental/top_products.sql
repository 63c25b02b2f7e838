-- Any SELECT works: a ranking over all products is recomputed, and the refresh says why.
select
    product_id,
    amount,
    rank() over (order by amount desc) as place
from {{ ref('product_performance') }}
order by amount desc, product_id asc
limit 10
