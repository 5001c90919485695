-- What Spark has and Penstock refuses, with the advice that it gives.

-- name: SELECT order_id FROM orders UNION ALL BY NAME SELECT order
SELECT order_id FROM orders UNION ALL BY NAME SELECT order_id FROM shipments;
-- refused: S001, leave out BY NAME, and name the columns of both queries in the same order

-- name: SELECT user_id FROM users MINUS ALL SELECT user_id FROM ac
SELECT user_id FROM users MINUS ALL SELECT user_id FROM accounts;
-- refused: S001, EXCEPT gives each row once; GROUP BY and COUNT(*) tell how often a row is there

-- name: SELECT TRANSFORM(order_id, product) USING 'cat' AS (a, b)
SELECT TRANSFORM(order_id, product) USING 'cat' AS (a, b) FROM orders;
-- refused: S001, queries run no programs; docs/functions.md lists the functions they have

-- name: CREATE TABLE t2 (id INT, name STRING) USING parquet PARTIT
CREATE TABLE t2 (id INT, name STRING) USING parquet PARTITIONED BY (id) LOCATION '/x' TBLPROPERTIES ('a' = 'b');
-- refused: S001, WITH (connector = 'files', path = 'folder', format = 'parquet') says where rows are

-- name: CREATE TABLE t2 USING delta AS SELECT * FROM users
CREATE TABLE t2 USING delta AS SELECT * FROM users;
-- refused: S001, WITH (connector = 'delta', path = 'folder') says where rows are

-- name: CREATE TABLE t2 (id INT) STORED AS PARQUET
CREATE TABLE t2 (id INT) STORED AS PARQUET;
-- refused: S001, WITH (connector = 'files', path = 'folder', format = 'parquet') says where rows are

-- name: CREATE TABLE t2 LIKE users USING delta
CREATE TABLE t2 LIKE users USING delta;
-- refused: S001, WITH (connector = 'delta', path = 'folder') says where rows are

-- name: CREATE TABLE t2 (id BIGINT, d DATE GENERATED ALWAYS AS (CA
CREATE TABLE t2 (id BIGINT, d DATE GENERATED ALWAYS AS (CAST(ts AS DATE)), ts TIMESTAMP) USING delta CLUSTER BY (id);
-- refused: S001, WITH (connector = 'delta', path = 'folder') says where rows are

-- name: CREATE VIEW IF NOT EXISTS v2 (a COMMENT 'x', b) COMMENT 'y
CREATE VIEW IF NOT EXISTS v2 (a COMMENT 'x', b) COMMENT 'y' TBLPROPERTIES ('a' = 'b') AS SELECT user_id, name FROM users;
-- refused: S001, leave it out: WITH has the options of the connector

-- name: CREATE TEMPORARY VIEW v2 (a INT) USING csv OPTIONS (path =
CREATE TEMPORARY VIEW v2 (a INT) USING csv OPTIONS (path = '/x', header = 'true');
-- refused: S001, CREATE STREAM or CREATE TABLE declares columns; a view has a SELECT

-- name: SELECT * FROM STREAM(orders) WITHOUT WATERMARK
SELECT * FROM STREAM(orders) WITHOUT WATERMARK;
-- refused: S001, leave out STREAM here; it stands behind SELECT: SELECT STREAM * FROM orders

-- name: INSERT OVERWRITE DIRECTORY ' x' USING parquet SELECT * FRO
INSERT OVERWRITE DIRECTORY '/x' USING parquet SELECT * FROM orders;
-- refused: S001, INSERT INTO what CREATE STREAM with connector = 'files' declares writes files into a folde

-- name: INSERT INTO alerts REPLACE WHERE user_id = 1 SELECT user_i
INSERT INTO alerts REPLACE WHERE user_id = 1 SELECT user_id, product, amount FROM orders;
-- refused: S001, leave it out: rows are replaced one by one, by the key of their table

-- name: LOAD DATA INPATH ' x' INTO TABLE orders
LOAD DATA INPATH '/x' INTO TABLE orders;
-- refused: S001, CREATE STREAM with connector = 'files' declares the folder, and INSERT INTO reads it

-- name: DROP TABLE IF EXISTS users PURGE
DROP TABLE IF EXISTS users PURGE;
-- refused: S001, leave it out: DROP forgets the declaration, and the rows stay

-- name: DESCRIBE TABLE users name
DESCRIBE TABLE users name;
-- refused: S001, DESCRIBE name shows all its columns

-- name: DESCRIBE DETAIL users
DESCRIBE DETAIL users;
-- refused: S001, DESCRIBE users shows what there is

-- name: DESCRIBE DATABASE d
DESCRIBE DATABASE d;
-- refused: S001, leave it out: names have no catalog, database or schema

-- name: SHOW COLUMNS IN users
SHOW COLUMNS IN users;
-- refused: S001, DESCRIBE users

-- name: EXECUTE IMMEDIATE 'SELECT * FROM orders'
EXECUTE IMMEDIATE 'SELECT * FROM orders';
-- refused: S001, write the statement itself: a query is prepared once, when it starts

-- name: day 1
CREATE STREAM v AS SELECT day + 1 AS a FROM events;
-- refused: T002, DATE_ADD(day, 1)

-- name: CONVERT_TIMEZONE('UTC', 'Europe Paris', ts)
CREATE STREAM v AS SELECT CONVERT_TIMEZONE('UTC', 'Europe/Paris', ts) AS a FROM events;
-- refused: N005, FROM_UTC_TIMESTAMP(TO_UTC_TIMESTAMP(ts, 'UTC'), 'Europe/Paris')

-- name: CURRENT_TIMEZONE()
CREATE STREAM v AS SELECT CURRENT_TIMEZONE() AS a FROM events;
-- refused: N005, 'UTC'

-- name: props.a
CREATE STREAM v AS SELECT props.a AS a FROM events;
-- refused: N006, props['a']

-- name: ARRAY_SORT(numbers, (a, b) -> a - b)
CREATE STREAM v AS SELECT ARRAY_SORT(numbers, (a, b) -> a - b) AS a FROM events;
-- refused: T005, SORT_ARRAY(numbers) is rising, SORT_ARRAY(numbers, FALSE) falling

-- name: ARRAYS_ZIP(numbers, tags)
CREATE STREAM v AS SELECT ARRAYS_ZIP(numbers, tags) AS a FROM events;
-- refused: N005, ZIP_WITH(numbers, tags, (a, b) -> NAMED_STRUCT('a', a, 'b', b))

-- name: TO_JSON(address, MAP('ignoreNullFields', 'false'))
CREATE STREAM v AS SELECT TO_JSON(address, MAP('ignoreNullFields', 'false')) AS a FROM events;
-- refused: T005, TO_JSON(address)

-- name: CEIL(score, 1)
CREATE STREAM v AS SELECT CEIL(score, 1) AS a FROM events;
-- refused: T005, CEIL(score * POWER(10, 1)) / POWER(10, 1)

-- name: RAND()
CREATE STREAM v AS SELECT RAND() AS a FROM events;
-- refused: N005, PMOD(HASH(key), 100) is a number from 0 to 99 that is the same after a restart

-- name: SPARK_PARTITION_ID()
CREATE STREAM v AS SELECT SPARK_PARTITION_ID() AS a FROM events;
-- refused: N005

-- name: INPUT_FILE_NAME()
CREATE STREAM v AS SELECT INPUT_FILE_NAME() AS a FROM events;
-- refused: N005, path STRING METADATA FROM 'file.path' VIRTUAL, a column of the declaration

-- name: RAISE_ERROR('x')
CREATE STREAM v AS SELECT RAISE_ERROR('x') AS a FROM events;
-- refused: N005, WHERE keeps the rows for which a condition holds

-- name: EXISTS (SELECT 1 FROM users u WHERE u.user_id = id)
CREATE STREAM v AS SELECT EXISTS (SELECT 1 FROM users u WHERE u.user_id = id) AS a FROM events;
-- refused: B002, LEFT JOIN users u ON u.user_id = id, and IS NOT NULL of its key

-- name: small = ANY(SELECT user_id FROM users)
CREATE STREAM v AS SELECT small = ANY(SELECT user_id FROM users) AS a FROM events;
-- refused: B002, LEFT JOIN users ON events.small = users.user_id, and users.user_id IS NOT NULL

-- name: STACK(1, 'a')
CREATE STREAM v AS SELECT STACK(1, 'a') AS a FROM events;
-- refused: N005, CROSS JOIN UNNEST(ARRAY[STRUCT(1 AS a, 'x' AS b), STRUCT(2 AS a, 'y' AS b)]) AS u

-- name: TO_VARCHAR(ts, 'yyyy')
CREATE STREAM v AS SELECT TO_VARCHAR(ts, 'yyyy') AS a FROM events;
-- refused: T006, DATE_FORMAT(ts, 'yyyy')

-- name: (SELECT MAX(user_id) FROM users)
CREATE STREAM v AS SELECT (SELECT MAX(user_id) FROM users) AS a FROM events;
-- refused: B002, FROM (SELECT *, 1 AS one FROM events) AS a JOIN (SELECT 1 AS one, MAX(user_id) AS value FR

-- name: DECODE(small, 1, 'a', 2, 'b', 'c')
CREATE STREAM v AS SELECT DECODE(small, 1, 'a', 2, 'b', 'c') AS a FROM events;
-- refused: T005, CASE small WHEN 1 THEN 'a' WHEN 2 THEN 'b' ELSE 'c' END
