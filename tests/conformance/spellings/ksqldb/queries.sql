-- Queries and joins of ksqlDB.

-- name: a stream from a stream
CREATE STREAM expensive AS SELECT order_id, amount FROM orders WHERE amount > 100 EMIT CHANGES;
-- same as
CREATE STREAM expensive AS SELECT STREAM order_id, amount FROM orders WHERE amount > 100;

-- name: a stream from a stream without EMIT
CREATE STREAM expensive AS SELECT order_id, amount FROM orders WHERE amount > 100;
-- same as
CREATE STREAM expensive AS SELECT STREAM order_id, amount FROM orders WHERE amount > 100;

-- name: INSERT INTO a stream
INSERT INTO alerts SELECT user_id, product, amount FROM orders WHERE amount > 100 EMIT CHANGES;
-- same as
INSERT INTO alerts SELECT STREAM user_id, product, amount FROM orders WHERE amount > 100;

-- name: a push query of a stream
-- EMIT CHANGES of a stream asks for its rows as they come.
SELECT * FROM orders EMIT CHANGES;
-- same as
SELECT STREAM * FROM orders;

-- name: a push query with LIMIT
SELECT * FROM orders EMIT CHANGES LIMIT 5;
-- refused: S009

-- name: a table of counts
CREATE TABLE counts AS SELECT user_id, COUNT(*) AS num FROM orders GROUP BY user_id EMIT CHANGES;
-- same as
CREATE TABLE counts AS SELECT user_id, COUNT(*) AS num FROM orders GROUP BY user_id;

-- name: a table of counts with HAVING
CREATE TABLE counts AS
SELECT user_id, COUNT(*) AS num FROM orders GROUP BY user_id HAVING COUNT(*) > 5 EMIT CHANGES;
-- same as
CREATE TABLE counts AS SELECT user_id, COUNT(*) AS num FROM orders GROUP BY user_id HAVING COUNT(*) > 5;

-- name: a table of a table
CREATE TABLE regions AS SELECT region, COUNT(*) AS num FROM users GROUP BY region EMIT CHANGES;
-- same as
CREATE TABLE regions AS SELECT region, COUNT(*) AS num FROM users GROUP BY region;

-- name: a filter of a table
CREATE TABLE northern AS SELECT * FROM users WHERE region = 'north' EMIT CHANGES;
-- same as
CREATE TABLE northern AS SELECT * FROM users WHERE region = 'north';

-- name: GROUP BY an expression
CREATE TABLE initials AS
SELECT SUBSTRING(product, 1, 1) AS initial, COUNT(*) AS num FROM orders GROUP BY SUBSTRING(product, 1, 1) EMIT CHANGES;
-- same as
CREATE TABLE initials AS
SELECT SUBSTRING(product, 1, 1) AS initial, COUNT(*) AS num FROM orders GROUP BY SUBSTRING(product, 1, 1);

-- name: PARTITION BY
CREATE STREAM by_product WITH (PARTITIONS = 8) AS SELECT * FROM orders PARTITION BY product EMIT CHANGES;
-- refused: C008

-- name: a stream-stream join
CREATE STREAM shipped AS
SELECT o.order_id AS order_id, s.carrier AS carrier
FROM orders o INNER JOIN shipments s WITHIN 7 DAYS ON o.order_id = s.order_id EMIT CHANGES;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id AS order_id, s.carrier AS carrier
FROM orders o JOIN shipments s WITHIN 7 DAYS ON o.order_id = s.order_id;

-- name: a join within two different times
-- In ksqlDB the first time is how far the right row may lie before the left one.
CREATE STREAM shipped AS
SELECT o.order_id AS order_id, s.carrier AS carrier
FROM orders o LEFT JOIN shipments s WITHIN (1 MINUTE, 2 HOURS) ON o.order_id = s.order_id EMIT CHANGES;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id AS order_id, s.carrier AS carrier
FROM orders o LEFT JOIN shipments s WITHIN (1 MINUTE BEFORE, 2 HOURS AFTER) ON o.order_id = s.order_id;

-- name: a join with a grace period
CREATE STREAM shipped AS
SELECT o.order_id AS order_id, s.carrier AS carrier
FROM orders o JOIN shipments s WITHIN 1 HOUR GRACE PERIOD 15 MINUTES ON o.order_id = s.order_id EMIT CHANGES;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id AS order_id, s.carrier AS carrier
FROM orders o JOIN shipments s WITHIN 1 HOUR GRACE PERIOD 15 MINUTES ON o.order_id = s.order_id;

-- name: a join within two times and a grace period
CREATE STREAM shipped AS
SELECT o.order_id AS order_id, s.carrier AS carrier
FROM orders o JOIN shipments s WITHIN (1 MINUTE, 2 MINUTES) GRACE PERIOD 15 MINUTES ON o.order_id = s.order_id
EMIT CHANGES;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id AS order_id, s.carrier AS carrier
FROM orders o JOIN shipments s WITHIN (1 MINUTE BEFORE, 2 MINUTES AFTER) GRACE PERIOD 15 MINUTES ON o.order_id = s.order_id;

-- name: a full join of streams
CREATE STREAM both_sides AS
SELECT o.order_id AS order_id, s.carrier AS carrier
FROM orders o FULL OUTER JOIN shipments s WITHIN 1 HOUR ON o.order_id = s.order_id EMIT CHANGES;
-- same as
CREATE STREAM both_sides AS
SELECT STREAM o.order_id AS order_id, s.carrier AS carrier
FROM orders o FULL JOIN shipments s WITHIN 1 HOUR ON o.order_id = s.order_id;

-- name: three streams
CREATE STREAM done AS
SELECT o.order_id AS order_id, p.paid AS paid, s.carrier AS carrier
FROM orders o
INNER JOIN payments p WITHIN 1 HOUR ON p.order_id = o.order_id
INNER JOIN shipments s WITHIN 2 HOURS ON s.order_id = o.order_id
EMIT CHANGES;
-- same as
CREATE STREAM done AS
SELECT STREAM o.order_id AS order_id, p.paid AS paid, s.carrier AS carrier
FROM orders o
JOIN payments p WITHIN 1 HOUR ON p.order_id = o.order_id
JOIN shipments s WITHIN 2 HOURS ON s.order_id = o.order_id;

-- name: a stream-stream join without WITHIN
-- ksqlDB refuses it, too.
CREATE STREAM shipped AS
SELECT o.order_id AS order_id, s.carrier AS carrier FROM orders o JOIN shipments s ON o.order_id = s.order_id EMIT CHANGES;
-- refused: J001, INTERVAL

-- name: a stream-table join
CREATE STREAM enriched AS
SELECT o.order_id AS order_id, u.name AS name, u.region AS region
FROM orders o LEFT JOIN users u ON o.user_id = u.user_id EMIT CHANGES;
-- same as
CREATE STREAM enriched AS
SELECT STREAM o.order_id AS order_id, u.name AS name, u.region AS region
FROM orders o LEFT JOIN users u ON u.user_id = o.user_id;

-- name: an inner stream-table join
CREATE STREAM enriched AS
SELECT o.order_id AS order_id, u.name AS name FROM orders o JOIN users u ON o.user_id = u.user_id EMIT CHANGES;
-- same as
CREATE STREAM enriched AS
SELECT STREAM o.order_id AS order_id, u.name AS name FROM orders o INNER JOIN users u ON u.user_id = o.user_id;

-- name: two tables beside a stream
CREATE STREAM enriched AS
SELECT o.order_id AS order_id, u.name AS name, a.balance AS balance
FROM orders o LEFT JOIN users u ON o.user_id = u.user_id LEFT JOIN accounts a ON o.user_id = a.user_id EMIT CHANGES;
-- same as
CREATE STREAM enriched AS
SELECT STREAM o.order_id AS order_id, u.name AS name, a.balance AS balance
FROM orders o LEFT JOIN users u ON u.user_id = o.user_id LEFT JOIN accounts a ON a.user_id = o.user_id;

-- name: a table-table join
CREATE TABLE balances AS
SELECT u.user_id AS user_id, u.name AS name, a.balance AS balance
FROM users u LEFT OUTER JOIN accounts a ON u.user_id = a.user_id EMIT CHANGES;
-- same as
CREATE TABLE balances AS
SELECT u.user_id AS user_id, u.name AS name, a.balance AS balance
FROM users u LEFT JOIN accounts a ON u.user_id = a.user_id;

-- name: a foreign-key join
CREATE TABLE managed AS
SELECT a.user_id AS user_id, u.name AS manager
FROM accounts a LEFT JOIN users u ON a.manager = u.user_id EMIT CHANGES;
-- same as
CREATE TABLE managed AS
SELECT a.user_id AS user_id, u.name AS manager FROM accounts a LEFT JOIN users u ON u.user_id = a.manager;

-- name: a windowed group of a join
CREATE TABLE carriers AS
SELECT s.carrier AS carrier, COUNT(*) AS num
FROM orders o JOIN shipments s WITHIN 1 HOUR ON o.order_id = s.order_id
WINDOW TUMBLING (SIZE 1 DAY) GROUP BY s.carrier EMIT CHANGES;
-- same as
CREATE TABLE carriers AS
SELECT s.carrier AS carrier, COUNT(*) AS num
FROM orders o JOIN shipments s WITHIN 1 HOUR ON o.order_id = s.order_id
GROUP BY s.carrier, TUMBLE(o.order_time, INTERVAL '1' DAY) EMIT CHANGES;

-- name: EXPLODE in the SELECT list
CREATE STREAM tagged AS SELECT id, EXPLODE(tags) AS tag FROM events EMIT CHANGES;
-- same as
CREATE STREAM tagged AS SELECT STREAM id, t.tag AS tag FROM events CROSS JOIN UNNEST(tags) AS t (tag);

-- name: a pull query
SELECT name FROM users WHERE user_id = 17;
-- read, same as
SELECT name FROM users WHERE user_id = 17;

-- name: a pull query of several keys
SELECT user_id, name FROM users WHERE user_id IN (17, 18);
-- read, same as
SELECT user_id, name FROM users WHERE user_id IN (17, 18);

-- name: a pull query of a stream
SELECT * FROM orders WHERE order_id = 17;
-- read, refused: R032

-- name: ROWTIME
CREATE STREAM timed AS SELECT order_id, ROWTIME AS at FROM orders EMIT CHANGES;
-- same as
CREATE STREAM timed AS SELECT STREAM order_id, order_time AS at FROM orders;

-- name: ROWTIME of both sides of a join
CREATE STREAM timed AS
SELECT o.order_id AS id, o.ROWTIME AS ordered, s.ROWTIME AS shipped
FROM orders o LEFT JOIN shipments s WITHIN 7 DAYS ON o.order_id = s.order_id EMIT CHANGES;
-- same as
CREATE STREAM timed AS
SELECT STREAM o.order_id AS id, o.order_time AS ordered, s.ship_time AS shipped
FROM orders o LEFT JOIN shipments s WITHIN 7 DAYS ON o.order_id = s.order_id;

-- name: ROWTIME of a join
-- In ksqlDB it is the greater one. The rows of a join have two event times here.
CREATE STREAM timed AS
SELECT o.order_id AS id, ROWTIME AS at
FROM orders o JOIN shipments s WITHIN 7 DAYS ON o.order_id = s.order_id EMIT CHANGES;
-- refused: N002, GREATEST(o.order_time, s.ship_time)

-- name: ROWTIME of a join with a table
CREATE STREAM priced AS
SELECT o.order_id AS id, ROWTIME AS at, r.rate AS rate FROM orders o JOIN rates r ON o.currency = r.currency EMIT CHANGES;
-- same as
CREATE STREAM priced AS
SELECT STREAM o.order_id AS id, o.order_time AS at, r.rate AS rate FROM orders o JOIN rates r ON o.currency = r.currency;

-- name: ROWTIME in a condition
CREATE STREAM recent AS SELECT order_id FROM orders WHERE ROWTIME >= '2026-01-01T00:00:00' EMIT CHANGES;
-- same as
CREATE STREAM recent AS SELECT STREAM order_id FROM orders WHERE order_time >= '2026-01-01T00:00:00';

-- name: the newest ROWTIME of a group
CREATE TABLE newest AS SELECT user_id, MAX(ROWTIME) AS at FROM orders GROUP BY user_id EMIT CHANGES;
-- same as
CREATE TABLE newest AS SELECT user_id, MAX(order_time) AS at FROM orders GROUP BY user_id;

-- name: ROWTIME of a table of groups
CREATE TABLE totals AS SELECT user_id, COUNT(*) AS n FROM orders GROUP BY user_id EMIT CHANGES;
CREATE TABLE times AS SELECT user_id, ROWTIME AS at FROM totals EMIT CHANGES;
-- refused: N001, MAX(ROWTIME) AS at

-- name: ROWTIME in a pull query
SELECT currency, ROWTIME AS at FROM rates WHERE currency = 'EUR';
-- read, same as
SELECT currency, rate_time AS at FROM rates WHERE currency = 'EUR';

-- name: a CASE
CREATE STREAM sized AS
SELECT order_id, CASE WHEN quantity < 2 THEN 'small' WHEN quantity < 5 THEN 'medium' ELSE 'large' END AS size
FROM orders EMIT CHANGES;
-- same as
CREATE STREAM sized AS
SELECT STREAM order_id, CASE WHEN quantity < 2 THEN 'small' WHEN quantity < 5 THEN 'medium' ELSE 'large' END AS size
FROM orders;
