-- Reads through a view and an ephemeral model; the materialization by its long name.
{{ config(materialized='incremental_view') }}

select
    i.product_id,
    count(*) as items,
    sum(i.quantity) as pieces,
    sum(i.amount) as amount
from {{ ref('item_amounts') }} as i
inner join {{ ref('valid_orders') }} as o on i.order_id = o.order_id
group by i.product_id
