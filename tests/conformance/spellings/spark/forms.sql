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

-- name: named fields of a struct
CREATE VIEW v AS SELECT STRUCT(id AS a, UPPER(kind) AS b, small, 1) AS s FROM events;
-- same as
CREATE VIEW v AS SELECT NAMED_STRUCT('a', id, 'b', UPPER(kind), 'small', small, 'col4', 1) AS s FROM events;

-- name: a row of values as a struct
CREATE VIEW v AS SELECT id, (kind, small + 1) AS s FROM events;
-- same as
CREATE VIEW v AS SELECT id, NAMED_STRUCT('kind', kind, 'col2', small + 1) AS s FROM events;

-- name: a name inside a call of a function
CREATE VIEW v AS SELECT UPPER(kind AS a) AS b FROM events;
-- refused: S011

-- name: a name inside a call of an array
CREATE VIEW v AS SELECT ARRAY(kind AS a) AS b FROM events;
-- refused: S026, STRUCT(kind AS a)

-- name: MINUS
SELECT user_id FROM users MINUS SELECT user_id FROM accounts;
-- read, same as
SELECT user_id FROM users EXCEPT SELECT user_id FROM accounts;

-- name: SELECT ALL and LIMIT ALL
CREATE VIEW v AS SELECT ALL id FROM events;
-- same as
CREATE VIEW v AS SELECT id FROM events;

-- name: names of all columns that EXPLODE makes
CREATE STREAM pairs AS SELECT id, EXPLODE(props) AS (name, content) FROM events;
-- same as
CREATE STREAM pairs AS SELECT STREAM id, name, content FROM events LATERAL VIEW EXPLODE(props) t AS name, content;

-- name: names of all columns that POSEXPLODE makes
CREATE STREAM pairs AS SELECT id, posexplode_outer(tags) AS (place, tag) FROM events;
-- same as
CREATE STREAM pairs AS SELECT STREAM id, place, tag FROM events LATERAL VIEW OUTER POSEXPLODE(tags) t AS place, tag;

-- name: too few names for what EXPLODE makes
CREATE STREAM pairs AS SELECT id, EXPLODE(props) AS (name) FROM events;
-- refused: K022

-- name: several names for one value
CREATE STREAM pairs AS SELECT UPPER(kind) AS (a, b) FROM events;
-- refused: S026, UPPER(kind) AS a

-- name: LATERAL of a function that makes rows
CREATE STREAM pairs AS SELECT e.id, t.tag FROM events e, LATERAL EXPLODE(e.tags) AS t(tag);
-- same as
CREATE STREAM pairs AS SELECT STREAM e.id, t.tag FROM events e LATERAL VIEW EXPLODE(e.tags) t AS tag;

-- name: LATERAL of a function that makes rows, with rows that have none
CREATE STREAM pairs AS SELECT e.id, t.pos, t.col FROM events e LEFT JOIN LATERAL POSEXPLODE(e.tags) AS t ON TRUE;
-- same as
CREATE STREAM pairs AS SELECT STREAM e.id, t.pos, t.col FROM events e LATERAL VIEW OUTER POSEXPLODE(e.tags) t;

-- name: LATERAL of a function whose name ends in OUTER
CREATE STREAM pairs AS SELECT e.id, t.tag FROM events e, LATERAL EXPLODE_OUTER(e.tags) AS t(tag);
-- refused: S015, LEFT JOIN LATERAL EXPLODE(e.tags) AS t ON TRUE

-- name: LATERAL of another function
CREATE STREAM pairs AS SELECT e.id FROM events e, LATERAL UPPER(e.kind) AS t;
-- refused: S015

-- name: arguments with names
CREATE VIEW v AS SELECT MASK(kind, lowerChar => 'q', otherChar => '-') AS a FROM events;
-- same as
CREATE VIEW v AS SELECT MASK(kind, 'X', 'q', 'n', '-') AS a FROM events;

-- name: an argument with a name that there is not
CREATE VIEW v AS SELECT MASK(kind, letter => 'q') AS a FROM events;
-- refused: S026, upperchar

-- name: EXPLODE of an argument with a name
CREATE STREAM pairs AS SELECT id, EXPLODE(collection => tags) AS tag FROM events;
-- same as
CREATE STREAM pairs AS SELECT STREAM id, EXPLODE(tags) AS tag FROM events;

-- name: ORDER BY behind queries in parentheses
(SELECT user_id FROM users) UNION ALL (SELECT user_id FROM accounts) ORDER BY user_id LIMIT 3;
-- read, same as
SELECT * FROM (SELECT user_id FROM users UNION ALL SELECT user_id FROM accounts) ORDER BY user_id LIMIT 3;

-- name: ORDER BY behind the last of several queries
SELECT user_id FROM users UNION SELECT user_id FROM accounts ORDER BY user_id DESC;
-- read, same as
SELECT * FROM (SELECT user_id FROM users UNION SELECT user_id FROM accounts) ORDER BY user_id DESC;

-- name: ORDER BY of a query in parentheses is its own
SELECT user_id FROM users UNION ALL (SELECT user_id FROM accounts ORDER BY user_id LIMIT 1);
-- read, same as
SELECT user_id FROM users UNION ALL SELECT * FROM (SELECT user_id FROM accounts ORDER BY user_id LIMIT 1);
