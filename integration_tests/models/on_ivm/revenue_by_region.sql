-- The third floor: an ivm model on an ivm model on an ivm model.
select
    r.country,
    r.region_name,
    sum(d.revenue) as revenue,
    sum(d.items) as items
from {{ ref('revenue_by_store_day') }} as d
inner join {{ source('shop_raw', 'stores') }} as s on d.store_id = s.store_id
inner join {{ ref('regions') }} as r on s.region_code = r.region_code
group by r.country, r.region_name
