-- What Flink accepts and Penstock refuses, because its state would never end or its answer would not be stable.

-- name: a session that never ends
CREATE STREAM visits AS
SELECT STREAM user_id, COUNT(*) AS num FROM pageviews GROUP BY user_id, SESSION(viewtime, INTERVAL '0' SECOND);
-- refused: W008

-- name: a group of groups of a stream
CREATE STREAM totals AS SELECT STREAM user_id, SUM(amount) AS total FROM orders GROUP BY user_id;
-- refused: K001

-- name: a table from rows that have no key
CREATE TABLE copies AS SELECT user_id, amount FROM orders;
-- refused: K003, CREATE STREAM

-- name: a window of a column that is not the event time
CREATE STREAM counts AS
SELECT STREAM COUNT(*) AS num FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(price), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end;
-- refused: W002

-- name: a hop that slides farther than it is long
CREATE STREAM counts AS
SELECT STREAM COUNT(*) AS num FROM bid GROUP BY HOP(bidtime, INTERVAL '10' MINUTE, INTERVAL '5' MINUTE);
-- refused: W007

-- name: a cumulating window of an odd step
CREATE STREAM counts AS
SELECT STREAM COUNT(*) AS num FROM bid GROUP BY CUMULATE(bidtime, INTERVAL '7' MINUTE, INTERVAL '1' HOUR);
-- refused: W015

-- name: the newest value of a group
CREATE TABLE newest AS SELECT user_id, LAST_VALUE(product) AS product FROM orders GROUP BY user_id;
-- refused: T008, MAX_BY

-- name: a list of all values
CREATE TABLE lists AS SELECT user_id, LISTAGG(product) AS products FROM orders GROUP BY user_id;
-- The separator is a comma for Flink, and nothing for Spark.
-- refused: T005

-- name: a frame that looks ahead by rows
CREATE STREAM ahead AS
SELECT STREAM order_id, SUM(amount) OVER (
  PARTITION BY product ORDER BY order_time ROWS BETWEEN CURRENT ROW AND 3 FOLLOWING) AS total
FROM orders;
-- refused: W042

-- name: a frame without an upper end
CREATE STREAM ahead AS
SELECT STREAM order_id, SUM(amount) OVER (
  PARTITION BY product ORDER BY order_time RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND UNBOUNDED FOLLOWING) AS total
FROM orders;
-- refused: W028

-- name: a temporal join with a table that has no history
CREATE STREAM named AS
SELECT STREAM o.order_id, u.name FROM orders o JOIN users FOR SYSTEM_TIME AS OF o.order_time AS u ON o.user_id = u.user_id;
-- refused: J019

-- name: an inequality between streams alone
CREATE STREAM pairs AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s WITHIN 1 HOUR ON o.amount > s.cost;
-- refused: J008

-- name: a python function
CREATE STREAM called AS SELECT STREAM my_function(order_id) AS a FROM orders;
-- refused: N004
