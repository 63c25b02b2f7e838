-- The shop's operational tables, as a loading tool would leave them. Values come from hashes of the ids, so that every
-- demo sees the same shop. All tables but stores have a change feed.
create schema if not exists shop_raw;

create table shop_raw.customers (
    customer_id bigint not null, name string, email string, region_code string, segment string, signed_up date
) using delta tblproperties ('delta.enableChangeDataFeed' = 'true');

create table shop_raw.products (
    product_id bigint not null, name string, category string, list_price decimal(10, 2), cost decimal(10, 2)
) using delta tblproperties ('delta.enableChangeDataFeed' = 'true');

create table shop_raw.stores (
    store_id bigint not null, name string, region_code string, opened date
) using delta tblproperties ('delta.enableChangeDataFeed' = 'false');

create table shop_raw.orders (
    order_id bigint not null, customer_id bigint, store_id bigint, status string, ordered_at timestamp, note string
) using delta tblproperties ('delta.enableChangeDataFeed' = 'true');

create table shop_raw.order_items (
    item_id bigint not null, order_id bigint, product_id bigint, quantity int, unit_price decimal(10, 2),
    discount decimal(4, 2)
) using delta tblproperties ('delta.enableChangeDataFeed' = 'true');

create table shop_raw.payments (
    payment_id bigint not null, order_id bigint, method string, amount decimal(12, 2), paid_at timestamp
) using delta tblproperties ('delta.enableChangeDataFeed' = 'true');

insert into shop_raw.customers
select
    id,
    concat('Customer ', id),
    if(pmod(xxhash64('mail', id), 20) = 0, null, concat('c', id, '@example.com')),
    element_at(array('N', 'S', 'E', 'W', 'I'), cast(pmod(xxhash64('region', id), 5) as int) + 1),
    element_at(array('consumer', 'business', 'school'), cast(pmod(xxhash64('segment', id), 3) as int) + 1),
    date_add(date '2023-01-01', cast(pmod(xxhash64('signup', id), 700) as int))
from range(1, 501);

insert into shop_raw.products
select
    id,
    concat('Product ', id),
    element_at(array('books', 'garden', 'kitchen', 'music', 'toys', 'travel'), cast(pmod(id, 6) as int) + 1),
    cast(5 + pmod(xxhash64('price', id), 9500) / 100 as decimal(10, 2)),
    cast(2 + pmod(xxhash64('cost', id), 300) / 100 as decimal(10, 2))
from range(1, 201);

insert into shop_raw.stores
select
    id,
    concat('Store ', id),
    element_at(array('N', 'S', 'E', 'W', 'I'), cast(pmod(id, 5) as int) + 1),
    date_add(date '2015-03-01', cast(id * 120 as int))
from range(1, 13);

insert into shop_raw.orders
select
    id,
    1 + pmod(xxhash64('customer', id), 500),
    if(pmod(xxhash64('web', id), 4) = 0, null, 1 + pmod(xxhash64('store', id), 12)),
    element_at(
        array('completed', 'completed', 'completed', 'completed', 'placed', 'shipped', 'returned', 'cancelled'),
        cast(pmod(xxhash64('status', id), 8) as int) + 1
    ),
    timestamp '2025-01-01 08:00:00' + make_dt_interval(cast(id / 40 as int), 0, cast(pmod(xxhash64('min', id), 720) as int)),
    if(pmod(xxhash64('note', id), 10) = 0, 'gift', null)
from range(1, 4001);

insert into shop_raw.order_items
select
    id * 10 + line,
    id,
    1 + pmod(xxhash64('product', id, line), 200),
    1 + cast(pmod(xxhash64('quantity', id, line), 4) as int),
    cast(5 + pmod(xxhash64('paid', id, line), 9500) / 100 as decimal(10, 2)),
    cast(if(pmod(xxhash64('discount', id, line), 5) = 0, 0.10, 0) as decimal(4, 2))
from range(1, 4001)
lateral view explode(sequence(1, 1 + cast(pmod(xxhash64('lines', id), 4) as int))) lines as line;

insert into shop_raw.payments
select
    id,
    id,
    element_at(array('card', 'cash', 'invoice'), cast(pmod(xxhash64('method', id), 3) as int) + 1),
    cast(10 + pmod(xxhash64('amount', id), 40000) / 100 as decimal(12, 2)),
    timestamp '2025-01-01 20:00:00' + make_dt_interval(cast(id / 40 as int))
from range(1, 4001)
where pmod(xxhash64('unpaid', id), 15) <> 0;
