-- What Spark accepts, or refuses at run time, and Penstock refuses when it reads the script.

-- name: distinct rows of an endless stream
CREATE STREAM ids AS SELECT STREAM DISTINCT user_id FROM orders;
-- refused: W040

-- name: ORDER BY of an endless stream
CREATE STREAM sorted AS SELECT STREAM * FROM orders ORDER BY amount;
-- refused: S008

-- name: LIMIT of an endless stream
CREATE STREAM some_orders AS SELECT STREAM * FROM orders LIMIT 5;
-- refused: S009

-- name: the rank of an endless stream
CREATE STREAM ranked AS
SELECT STREAM order_id, RANK() OVER (PARTITION BY product ORDER BY amount DESC) AS place FROM orders;
-- refused: W021

-- name: the list of a group
CREATE TABLE lists AS SELECT user_id, collect_list(product) AS products FROM orders GROUP BY user_id;
-- refused: W044, TUMBLE

-- name: the first value of a group
CREATE TABLE firsts AS SELECT user_id, first(product) AS product FROM orders GROUP BY user_id;
-- refused: T008, MIN_BY

-- name: an outer join without a bound
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o LEFT JOIN shipments s ON o.order_id = s.order_id;
-- refused: J001

-- name: a cross join
CREATE STREAM pairs AS SELECT STREAM o.order_id FROM orders o CROSS JOIN shipments s;
-- refused: J015

-- name: EXISTS over a stream
CREATE STREAM shipped AS
SELECT STREAM order_id FROM orders o WHERE EXISTS (SELECT 1 FROM shipments s WHERE s.order_id = o.order_id);
-- refused: J007

-- name: the median of a group
CREATE TABLE medians AS SELECT user_id, median(amount) AS amount FROM orders GROUP BY user_id;
-- refused: W044

-- name: a stream as a table
CREATE TABLE copies AS SELECT * FROM orders;
-- refused: K003

-- name: a function that runs code
CREATE STREAM ran AS SELECT STREAM java_method('java.util.UUID', 'randomUUID') AS a FROM orders;
-- refused: N005

-- name: a RIGHT JOIN of a table with a stream
CREATE STREAM enriched AS SELECT STREAM o.order_id, u.name FROM orders o RIGHT JOIN users u ON o.user_id = u.user_id;
-- refused: J011
