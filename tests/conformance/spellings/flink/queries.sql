-- Queries of Flink SQL without windows of their own.

-- name: a filter and a projection
INSERT INTO alerts SELECT user_id, product, amount FROM orders WHERE amount > 1000;
-- same as
INSERT INTO alerts SELECT STREAM user_id, product, amount FROM orders WHERE amount > 1000;

-- name: names of columns in INSERT
INSERT INTO alerts (product, user_id) SELECT product, user_id FROM orders;
-- same as
INSERT INTO alerts (product, user_id) SELECT STREAM product, user_id FROM orders;

-- name: a group without a window
-- A table of changes, in Flink as here.
SELECT user_id, COUNT(*) AS num, SUM(amount) AS total FROM orders GROUP BY user_id;
-- same as
SELECT user_id, COUNT(*) AS num, SUM(amount) AS total FROM orders GROUP BY user_id;

-- name: a group written to a table
INSERT INTO user_totals SELECT user_id, SUM(amount) AS total FROM orders GROUP BY user_id;
-- same as
INSERT INTO user_totals (user_id, total) SELECT user_id, SUM(amount) AS total FROM orders GROUP BY user_id;

-- name: a group written to a stream
-- Changes are not a stream of new rows.
INSERT INTO alerts (user_id, amount) SELECT user_id, MAX(amount) FROM orders GROUP BY user_id;
-- refused: K008

-- name: a stream without STREAM
-- A query at the prompt: Penstock asks whether its rows are a stream.
SELECT user_id, product FROM orders;
-- refused: K002, SELECT STREAM

-- name: GROUP BY position
SELECT user_id, COUNT(*) AS num FROM orders GROUP BY 1;
-- same as
SELECT user_id, COUNT(*) AS num FROM orders GROUP BY user_id;

-- name: HAVING over an alias
SELECT user_id, COUNT(*) AS num FROM orders GROUP BY user_id HAVING num > 10;
-- same as
SELECT user_id, COUNT(*) AS num FROM orders GROUP BY user_id HAVING COUNT(*) > 10;

-- name: SELECT DISTINCT of a stream
-- A table of distinct rows, in Flink as here.
SELECT DISTINCT user_id FROM orders;
-- same as
SELECT DISTINCT orders.user_id FROM orders;

-- name: distinct counts with filters
SELECT product, COUNT(DISTINCT user_id) AS buyers, COUNT(DISTINCT user_id) FILTER (WHERE amount > 10) AS big_buyers
FROM orders GROUP BY product;
-- same as
SELECT product, COUNT(DISTINCT user_id) AS buyers, COUNT(DISTINCT user_id) FILTER (WHERE amount > 10) AS big_buyers
FROM orders GROUP BY product;

-- name: an aggregate over a range
CREATE STREAM summed AS
SELECT order_id, order_time, amount,
  SUM(amount) OVER (
    PARTITION BY product ORDER BY order_time RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) AS one_hour
FROM orders;
-- same as
CREATE STREAM summed AS
SELECT STREAM order_id, order_time, amount,
  SUM(amount) OVER (PARTITION BY product ORDER BY order_time RANGE INTERVAL '1' HOUR PRECEDING) AS one_hour
FROM orders;

-- name: an aggregate over rows
CREATE STREAM averaged AS
SELECT order_id,
  AVG(amount) OVER (PARTITION BY product ORDER BY order_time ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) AS mean_amount
FROM orders;
-- same as
CREATE STREAM averaged AS
SELECT STREAM order_id, AVG(amount) OVER (PARTITION BY product ORDER BY order_time ROWS 9 PRECEDING) AS mean_amount
FROM orders;

-- name: a named window
CREATE STREAM summed AS
SELECT order_id, SUM(amount) OVER w AS total, AVG(amount) OVER w AS mean_amount
FROM orders
WINDOW w AS (PARTITION BY product ORDER BY order_time RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW);
-- same as
CREATE STREAM summed AS
SELECT STREAM order_id, SUM(amount) OVER w AS total, AVG(amount) OVER w AS mean_amount
FROM orders WINDOW w AS (PARTITION BY product ORDER BY order_time RANGE INTERVAL '1' HOUR PRECEDING);

-- name: an aggregate over all rows before
CREATE STREAM summed AS
SELECT order_id, SUM(amount) OVER (PARTITION BY product ORDER BY order_time) AS total FROM orders;
-- refused: W022

-- name: an aggregate over an endless range
CREATE STREAM summed AS
SELECT order_id,
  SUM(amount) OVER (PARTITION BY product ORDER BY order_time RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS total
FROM orders;
-- refused: W020

-- name: OVER by the processing time
CREATE STREAM summed AS
SELECT order_id,
  SUM(amount) OVER (PARTITION BY product ORDER BY PROCTIME() RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) AS t
FROM orders;
-- refused: W014

-- name: deduplication by the first row
-- Flink remembers every key forever.
CREATE STREAM firsts AS
SELECT order_id, user_id, product FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY order_id ORDER BY order_time ASC) AS row_num FROM orders
) WHERE row_num = 1;
-- refused: W022

-- name: deduplication within a time
CREATE STREAM firsts AS
SELECT order_id, user_id, product FROM (
  SELECT *, ROW_NUMBER() OVER (
    PARTITION BY order_id ORDER BY order_time RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) AS row_num
  FROM orders
) WHERE row_num = 1;
-- same as
CREATE STREAM firsts AS
SELECT STREAM order_id, user_id, product FROM (
  SELECT STREAM *, ROW_NUMBER() OVER (PARTITION BY order_id ORDER BY order_time RANGE INTERVAL '1' HOUR PRECEDING) AS row_num
  FROM orders
) WHERE row_num = 1;

-- name: Top-N of an endless stream
CREATE STREAM best AS
SELECT product, amount FROM (
  SELECT product, amount, ROW_NUMBER() OVER (PARTITION BY product ORDER BY amount DESC) AS row_num FROM orders
) WHERE row_num <= 5;
-- refused: W021

-- name: ORDER BY of an endless stream
CREATE STREAM sorted AS SELECT order_id FROM orders ORDER BY amount DESC;
-- refused: S008

-- name: ORDER BY the event time
CREATE STREAM sorted AS SELECT order_id FROM orders ORDER BY order_time;
-- refused: S008

-- name: LIMIT of an endless stream
CREATE STREAM some_orders AS SELECT order_id FROM orders LIMIT 10;
-- refused: S009

-- name: FETCH FIRST of an endless stream
CREATE STREAM some_orders AS SELECT order_id FROM orders FETCH FIRST 10 ROWS ONLY;
-- refused: S009

-- name: UNION ALL
CREATE STREAM times AS
(SELECT order_id, order_time AS at FROM orders) UNION ALL (SELECT order_id, ship_time FROM shipments);
-- same as
CREATE STREAM times AS
SELECT STREAM order_id, order_time AS at FROM orders UNION ALL SELECT STREAM order_id, ship_time AS at FROM shipments;

-- name: UNION ALL without parentheses
CREATE STREAM times AS
SELECT order_id, order_time AS at FROM orders UNION ALL SELECT order_id, ship_time AS at FROM shipments;
-- same as
CREATE STREAM times AS
SELECT STREAM order_id, order_time AS at FROM orders UNION ALL SELECT STREAM order_id, ship_time AS at FROM shipments;

-- name: UNION
CREATE STREAM ids AS SELECT order_id FROM orders UNION SELECT order_id FROM shipments;
-- refused: S010, UNION ALL

-- name: INTERSECT of streams
CREATE STREAM ids AS SELECT order_id FROM orders INTERSECT SELECT order_id FROM shipments;
-- refused: J007

-- name: EXCEPT of streams
CREATE STREAM ids AS SELECT order_id FROM orders EXCEPT SELECT order_id FROM shipments;
-- refused: J007

-- name: WITH
CREATE STREAM large AS
WITH big AS (SELECT order_id, amount FROM orders WHERE amount > 100)
SELECT order_id FROM big;
-- same as
CREATE STREAM large AS
WITH big AS (SELECT STREAM order_id, amount FROM orders WHERE amount > 100) SELECT STREAM order_id FROM big;

-- name: columns named in WITH
CREATE VIEW large AS
WITH big (id, value_of) AS (SELECT order_id, amount FROM orders)
SELECT id FROM big WHERE value_of > 100;
-- same as
CREATE VIEW large AS
WITH big AS (SELECT order_id AS id, amount AS value_of FROM orders) SELECT id FROM big WHERE value_of > 100;

-- name: a row of a multiset unnested
CREATE VIEW tagged AS SELECT id, tag FROM events CROSS JOIN UNNEST(tags) AS t (tag);
-- same as
CREATE VIEW tagged AS SELECT id, t.tag FROM events LATERAL VIEW EXPLODE(tags) t AS tag;

-- name: UNNEST with its position
-- Positions count from 1 in Flink.
CREATE VIEW tagged AS SELECT id, tag, n FROM events CROSS JOIN UNNEST(tags) WITH ORDINALITY AS t (tag, n);
-- same as
CREATE VIEW tagged AS SELECT id, t.tag, t.n FROM events, UNNEST(tags) WITH ORDINALITY AS t (tag, n);

-- name: UNNEST of a map
CREATE VIEW properties AS SELECT id, k, v FROM events CROSS JOIN UNNEST(props) AS t (k, v);
-- same as
CREATE VIEW properties AS SELECT id, t.k, t.v FROM events LATERAL VIEW EXPLODE(props) t AS k, v;

-- name: MATCH_RECOGNIZE
CREATE STREAM falls AS
SELECT * FROM orders MATCH_RECOGNIZE (
  PARTITION BY product ORDER BY order_time
  MEASURES A.amount AS first_amount
  ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B) DEFINE B AS B.amount < A.amount);
-- refused: B002

-- name: a query hint
CREATE STREAM hinted AS SELECT /*+ STATE_TTL('o' = '1d') */ order_id FROM orders o;
-- same as
CREATE STREAM hinted AS SELECT STREAM order_id FROM orders o;

-- name: a scalar subquery over a stream
CREATE STREAM above_mean AS SELECT order_id FROM orders WHERE amount > (SELECT AVG(amount) FROM orders);
-- refused: B002
