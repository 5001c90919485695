create stream orders ( id bigint key, product string, price decimal(10,2), time timestamp, watermark for time as time - interval '10' second idle after 1 min) with (connector='files', path = 'data/orders', format='json');
create table users(id bigint primary key, name string) with (connector = 'files', path='users', format='json');
select stream id,product from orders where price>100;
select stream upper(s->f->g), transform(a,x->x+s->f) as b from t;
select stream o.id as id, o.product as product, p.amount as amount, o.price * 2 + p.amount as total from orders as o left outer join payments p within (1 minute before, 5 minutes after) on p.order_id=o.id where o.price > -1 and not o.product is null;
select stream product, window_start, count(*) as n, count(distinct id) filter (where price>3) as ids from orders group by product, hop(time, 5 min, 1 hour) having count(*)>3 qualify row_number() over (partition by window_start order by n desc nulls last)<=3 emit final grace period 5 minutes late into late_orders;
create table totals with (connector='files', path='out/totals', format='json', operation='op') as select user_id, sum(amount) as total from orders group by grouping sets((user_id,product),(user_id),());
with big as (select stream * from orders where price>100), small as (select stream * from orders where price < 1) select stream id from big union all select stream id from small;
insert into out(id,name) select stream id, upper(product) from (select stream * from orders where product in (select name from customers)) t;
delete from profiles using stream gone g where profiles.id=g.id;
update profiles set last_seen=v.time, visits=profiles.visits+1 from stream views v where profiles.id=v.user_id else insert (id,visits) values (v.user_id,0);
set state_partitions=4; show tables; describe orders; drop table if exists users;
explain state select product, count(*) as n from orders group by product;
-- ==== formatted
CREATE STREAM orders (
  id bigint KEY,
  product string,
  price decimal(10, 2),
  time timestamp,
  WATERMARK FOR time AS time - INTERVAL '10' SECOND IDLE AFTER 1 MIN
)
WITH (connector = 'files', path = 'data/orders', format = 'json');

CREATE TABLE users (id bigint PRIMARY KEY, name string)
WITH (connector = 'files', path = 'users', format = 'json');

SELECT STREAM id, product
FROM orders
WHERE price > 100;

SELECT STREAM upper(s->f->g), transform(a, x -> x + s->f) AS b
FROM t;

SELECT STREAM o.id AS id, o.product AS product, p.amount AS amount, o.price * 2 + p.amount AS total
FROM orders AS o
LEFT OUTER JOIN payments p WITHIN (1 MINUTE BEFORE, 5 MINUTES AFTER) ON p.order_id = o.id
WHERE o.price > -1 AND NOT o.product IS NULL;

SELECT STREAM
  product,
  window_start,
  count(*) AS n,
  count(DISTINCT id) FILTER (WHERE price > 3) AS ids
FROM orders
GROUP BY product, hop(time, 5 MIN, 1 HOUR)
HAVING count(*) > 3
QUALIFY row_number() OVER (PARTITION BY window_start ORDER BY n DESC NULLS LAST) <= 3
EMIT FINAL
GRACE PERIOD 5 MINUTES
LATE INTO late_orders;

CREATE TABLE totals
WITH (connector = 'files', path = 'out/totals', format = 'json', operation = 'op') AS
SELECT user_id, sum(amount) AS total
FROM orders
GROUP BY GROUPING SETS ((user_id, product), (user_id), ());

WITH big AS (SELECT STREAM * FROM orders WHERE price > 100),
small AS (SELECT STREAM * FROM orders WHERE price < 1)
SELECT STREAM id
FROM big
UNION ALL
SELECT STREAM id
FROM small;

INSERT INTO out (id, name)
SELECT STREAM id, upper(product)
FROM (SELECT STREAM * FROM orders WHERE product IN (SELECT name FROM customers)) t;

DELETE FROM profiles
USING STREAM gone g
WHERE profiles.id = g.id;

UPDATE profiles
SET last_seen = v.time, visits = profiles.visits + 1
FROM STREAM views v
WHERE profiles.id = v.user_id
ELSE INSERT (id, visits) VALUES (v.user_id, 0);

SET state_partitions = 4;
SHOW TABLES;
DESCRIBE orders;
DROP TABLE IF EXISTS users;

EXPLAIN STATE
SELECT product, count(*) AS n
FROM orders
GROUP BY product;
