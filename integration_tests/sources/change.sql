-- A day in the life of the shop: everything that a hand-written incremental model has to be told about.

-- New rows: a day of orders with their items and payments, and some new customers.
insert into shop_raw.customers
select id, concat('Customer ', id), concat('c', id, '@example.com'), 'N', 'consumer', date '2025-04-11'
from range(501, 521);

insert into shop_raw.orders
select
    id, 1 + pmod(xxhash64('customer', id), 520), 1 + pmod(id, 12), 'placed',
    timestamp '2025-04-11 09:00:00' + make_dt_interval(0, 0, cast(pmod(id, 600) as int)), null
from range(4001, 4061);

insert into shop_raw.order_items
select id * 10 + line, id, 1 + pmod(xxhash64('product', id, line), 200), 2, 19.90, 0
from range(4001, 4061)
lateral view explode(sequence(1, 2)) lines as line;

insert into shop_raw.payments
select id, id, 'card', 79.60, timestamp '2025-04-11 20:00:00' from range(4001, 4061);

-- Updates: parcels arrive, and somebody corrects quantities.
update shop_raw.orders set status = 'completed' where status = 'shipped' and order_id between 3500 and 3900;

update shop_raw.order_items set quantity = quantity + 1 where item_id between 30000 and 30100;

-- Deletes: cancelled orders are purged with all that hangs on them.
delete from shop_raw.payments where order_id between 1000 and 1030;

delete from shop_raw.order_items where order_id between 1000 and 1030;

delete from shop_raw.orders where order_id between 1000 and 1030;

-- Dimensions change: customers move, a product changes category, a store gets a new name.
update shop_raw.customers set region_code = 'I' where customer_id between 100 and 104;

update shop_raw.products set category = 'travel' where product_id = 7;

update shop_raw.stores set name = 'Store 3 (harbour)' where store_id = 3;

-- A late-arriving row: an order of January that was written down on paper.
insert into shop_raw.orders values (30001, 42, 3, 'completed', timestamp '2025-01-06 10:15:00', 'on paper');

insert into shop_raw.order_items values (300011, 30001, 11, 3, 12.50, 0);

insert into shop_raw.payments values (30001, 30001, 'cash', 37.50, timestamp '2025-01-06 10:15:00');

-- A mistake, undone before anyone looked: it must leave no trace.
insert into shop_raw.payments values (99999, 1, 'card', 1000000.00, timestamp '2025-04-11 21:00:00');

delete from shop_raw.payments where payment_id = 99999;
