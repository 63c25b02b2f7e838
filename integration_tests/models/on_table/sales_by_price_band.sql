-- The table below is rewritten by every run; only what differs afterwards flows on.
select
    l.price_band,
    l.category,
    count(*) as items,
    sum(i.quantity) as pieces
from {{ source('shop_raw', 'order_items') }} as i
inner join {{ ref('price_list') }} as l on i.product_id = l.product_id
group by l.price_band, l.category
