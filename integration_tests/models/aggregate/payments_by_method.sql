select
    p.method,
    date_trunc('MONTH', p.paid_at) as paid_month,
    count(*) as payments,
    sum(p.amount) as amount,
    avg(p.amount) as average_amount,
    min(p.amount) as smallest_amount,
    max(p.amount) as largest_amount,
    max(p.paid_at) as last_paid_at
from {{ source('shop_raw', 'payments') }} as p
group by p.method, date_trunc('MONTH', p.paid_at)
