with delivered as (
    select
        order_id,
        customer_id,
        year(ordered_at) as order_year
    from {{ source('shop_raw', 'orders') }}
    where status in ('completed', 'shipped')
),

lines as (
    select
        d.customer_id,
        d.order_year,
        amounts.amount
    from delivered as d
    inner join (
        select
            order_id,
            quantity * unit_price as amount
        from {{ source('shop_raw', 'order_items') }}
        where quantity > 0
    ) as amounts on d.order_id = amounts.order_id
)

select
    c.segment,
    l.order_year,
    count(*) as items,
    sum(l.amount) as amount
from lines as l
inner join {{ source('shop_raw', 'customers') }} as c on l.customer_id = c.customer_id
group by c.segment, l.order_year
