-- Two orders of one customer within a week: the same table twice.
select
    earlier.customer_id,
    earlier.order_id as first_order_id,
    later.order_id as next_order_id,
    datediff(later.ordered_at, earlier.ordered_at) as days_between
from {{ source('shop_raw', 'orders') }} as earlier
inner join {{ source('shop_raw', 'orders') }} as later
    on
        earlier.customer_id = later.customer_id
        and earlier.order_id < later.order_id
where datediff(later.ordered_at, earlier.ordered_at) between 0 and 7
