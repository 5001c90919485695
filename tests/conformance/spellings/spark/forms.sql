-- Forms of Spark that mean the same here.

-- name: numbers of every type
CREATE VIEW v AS SELECT 1L AS a, 2S AS b, -128Y AS c, 1.5D AS d, 2F AS e, 0.05BD AS f, 1e3d AS g FROM events;
-- same as
CREATE VIEW v AS SELECT CAST(1 AS BIGINT) AS a, CAST(2 AS SMALLINT) AS b, CAST(-128 AS TINYINT) AS c, CAST(1.5 AS DOUBLE) AS d,
  CAST(2 AS FLOAT) AS e, CAST(0.05 AS DECIMAL(2, 2)) AS f, CAST(1e3 AS DOUBLE) AS g FROM events;

-- name: a number that its type does not have
CREATE VIEW v AS SELECT 300Y AS a FROM events;
-- refused: T010

-- name: bytes in hexadecimal digits
CREATE VIEW v AS SELECT X'1F2a' AS a FROM events;
-- same as
CREATE VIEW v AS SELECT UNHEX('1F2a') AS a FROM events;

-- name: NOT as a sign
CREATE VIEW v AS SELECT id FROM events WHERE !flag AND !(id = 1);
-- same as
CREATE VIEW v AS SELECT id FROM events WHERE NOT flag AND NOT (id = 1);

-- name: an interval of three units
CREATE VIEW v AS SELECT ts + INTERVAL 1 DAY 2 HOURS 30 MINUTES AS a FROM events;
-- same as
CREATE VIEW v AS SELECT ts + INTERVAL '1590' MINUTE AS a FROM events;

-- name: WITH ROLLUP
CREATE TABLE sums AS SELECT product, currency, GROUPING_ID() AS grouping_id, SUM(amount) AS total FROM orders
GROUP BY product, currency WITH ROLLUP;
-- same as
CREATE TABLE sums AS SELECT product, currency, GROUPING_ID() AS grouping_id, SUM(amount) AS total FROM orders
GROUP BY ROLLUP (product, currency);

-- name: WITH CUBE
CREATE TABLE sums AS SELECT product, currency, GROUPING_ID() AS grouping_id, SUM(amount) AS total FROM orders
GROUP BY product, currency WITH CUBE;
-- same as
CREATE TABLE sums AS SELECT product, currency, GROUPING_ID() AS grouping_id, SUM(amount) AS total FROM orders
GROUP BY CUBE (product, currency);

-- name: keys in front of GROUPING SETS
CREATE TABLE sums AS SELECT product, currency, GROUPING_ID() AS grouping_id, SUM(amount) AS total FROM orders
GROUP BY product, currency GROUPING SETS ((product), (currency));
-- same as
CREATE TABLE sums AS SELECT product, currency, GROUPING_ID() AS grouping_id, SUM(amount) AS total FROM orders
GROUP BY GROUPING SETS ((product), (currency));

-- name: INSERT BY NAME
INSERT INTO alerts BY NAME SELECT amount, product, user_id FROM orders;
-- same as
INSERT INTO alerts (amount, product, user_id) SELECT STREAM amount, product, user_id FROM orders;

-- name: INSERT BY NAME of all columns
INSERT INTO alerts BY NAME SELECT * FROM orders;
-- refused: S026, write the columns of * one by one

-- name: VALUES in order
VALUES (1, 'a'), (2, 'b') ORDER BY 1 DESC LIMIT 1;
-- read, same as
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) ORDER BY 1 DESC LIMIT 1;

-- name: ORDER BY of VALUES that never ends
VALUES (1) ORDER BY 1;
-- refused: S008
