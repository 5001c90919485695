-- A query of each operator, over streams of some hundred rows and two tables. FOLDER is where all of it lies.

SET state_partitions = 2;

CREATE STREAM orders (
  id BIGINT, customer STRING, amount DOUBLE, tags ARRAY<STRING>, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '10' SECOND
) WITH (connector = 'files', path = 'FOLDER/in/orders', format = 'json', files_per_batch = 1);

CREATE STREAM payments (
  id BIGINT, paid DOUBLE, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL '10' SECOND
) WITH (connector = 'files', path = 'FOLDER/in/payments', format = 'json', files_per_batch = 1);

CREATE TABLE customers (customer STRING PRIMARY KEY, city STRING, score BIGINT)
WITH (connector = 'files', path = 'FOLDER/in/customers', format = 'json', operation = 'op', files_per_batch = 1);

CREATE TABLE cities (city STRING PRIMARY KEY, country STRING)
WITH (connector = 'files', path = 'FOLDER/in/cities', format = 'json', operation = 'op', files_per_batch = 1);

-- Filter and projection
CREATE STREAM large WITH (connector = 'files', path = 'FOLDER/out/large', format = 'json') AS
SELECT STREAM id, customer, amount, time FROM orders WHERE amount >= 50;

-- UNION ALL and UNNEST
CREATE STREAM tagged WITH (connector = 'files', path = 'FOLDER/out/tagged', format = 'json') AS
SELECT STREAM o.id AS id, t.tag AS tag FROM orders o CROSS JOIN UNNEST(o.tags) AS t(tag)
UNION ALL
SELECT STREAM id, 'paid' AS tag FROM payments;

-- Windows: tumbling, sessions
CREATE STREAM hourly WITH (connector = 'files', path = 'FOLDER/out/hourly', format = 'json') AS
SELECT STREAM customer, window_start, COUNT(*) AS n, SUM(amount) AS total FROM orders
GROUP BY customer, TUMBLE(time, INTERVAL '1' MINUTE);

CREATE STREAM sessions WITH (connector = 'files', path = 'FOLDER/out/sessions', format = 'json') AS
SELECT STREAM customer, window_start, window_end, COUNT(*) AS n FROM orders
GROUP BY customer, SESSION(time, INTERVAL '20' SECOND);

-- A window over the rows of a join: two queries with an intermediate stream between them
CREATE STREAM delays WITH (connector = 'files', path = 'FOLDER/out/delays', format = 'json') AS
SELECT STREAM window_start, COUNT(*) AS n, COUNT(paid) AS payments FROM (
  SELECT STREAM o.time AS time, p.paid AS paid FROM orders o
  LEFT JOIN payments p ON o.id = p.id AND p.time BETWEEN o.time AND o.time + INTERVAL '30' SECOND) j
GROUP BY TUMBLE(time, INTERVAL '1' MINUTE);

-- A join within a bound
CREATE STREAM joined WITH (connector = 'files', path = 'FOLDER/out/joined', format = 'json') AS
SELECT STREAM o.id AS id, o.time AS time, p.paid AS paid FROM orders o
LEFT JOIN payments p ON o.id = p.id AND p.time BETWEEN o.time AND o.time + INTERVAL '30' SECOND;

-- DISTINCT
CREATE STREAM moments WITH (connector = 'files', path = 'FOLDER/out/moments', format = 'json') AS
SELECT STREAM DISTINCT time FROM orders;

-- OVER RANGE, OVER ROWS, ranks
CREATE STREAM running WITH (connector = 'files', path = 'FOLDER/out/running', format = 'json') AS
SELECT STREAM id, SUM(amount) OVER (PARTITION BY customer ORDER BY time RANGE INTERVAL '1' MINUTE PRECEDING) AS total
FROM orders;

CREATE STREAM recent WITH (connector = 'files', path = 'FOLDER/out/recent', format = 'json') AS
SELECT STREAM id, SUM(amount) OVER (PARTITION BY customer ORDER BY time ROWS 2 PRECEDING) AS total FROM orders;

CREATE STREAM best WITH (connector = 'files', path = 'FOLDER/out/best', format = 'json') AS
SELECT STREAM customer, id, amount, window_start FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(time), INTERVAL '1' MINUTE))
QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, customer ORDER BY amount DESC, id) <= 2;

-- Tables: groups of a stream and of a table, joins on a key and on a foreign one, ranks
CREATE TABLE totals WITH (connector = 'files', path = 'FOLDER/out/totals', format = 'json', operation = 'op') AS
SELECT customer, COUNT(*) AS n, SUM(amount) AS total FROM orders GROUP BY customer;

CREATE TABLE scores WITH (connector = 'files', path = 'FOLDER/out/scores', format = 'json', operation = 'op') AS
SELECT city, COUNT(*) AS n, SUM(score) AS score, MAX(score) AS best FROM customers GROUP BY city;

CREATE TABLE crowds WITH (connector = 'files', path = 'FOLDER/out/crowds', format = 'json', operation = 'op') AS
SELECT a.city AS city, a.country AS country, s.n AS n FROM cities a
LEFT JOIN (SELECT city, COUNT(*) AS n FROM customers GROUP BY city) s ON a.city = s.city;

CREATE TABLE places WITH (connector = 'files', path = 'FOLDER/out/places', format = 'json', operation = 'op') AS
SELECT c.customer AS customer, c.score AS score, t.country AS country FROM customers c
LEFT JOIN cities t ON c.city = t.city;

CREATE TABLE leaders WITH (connector = 'files', path = 'FOLDER/out/leaders', format = 'json', operation = 'op') AS
SELECT city, customer, score FROM customers
QUALIFY ROW_NUMBER() OVER (PARTITION BY city ORDER BY score DESC, customer) <= 2;

-- Each row of a stream with a row of a table
CREATE STREAM known WITH (connector = 'files', path = 'FOLDER/out/known', format = 'json') AS
SELECT STREAM o.id AS id, c.city AS city FROM orders o LEFT JOIN customers c ON o.customer = c.customer;
