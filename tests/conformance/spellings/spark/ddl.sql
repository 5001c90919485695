-- Declarations of Spark SQL.

-- name: CREATE TABLE USING with options
CREATE TABLE clicks (user_id BIGINT, url STRING) USING json OPTIONS (path 'clicks');
-- refused: S001

-- name: CREATE TABLE USING with a location
CREATE TABLE clicks (user_id BIGINT, url STRING) USING parquet LOCATION 'clicks';
-- refused: S001

-- name: CREATE TABLE with PARTITIONED BY
CREATE TABLE clicks (user_id BIGINT, url STRING, day DATE) USING delta PARTITIONED BY (day);
-- refused: S001

-- name: CREATE STREAMING TABLE
CREATE STREAMING TABLE clicks AS SELECT * FROM STREAM(orders);
-- refused: S001

-- name: CREATE OR REFRESH STREAMING TABLE
CREATE OR REFRESH STREAMING TABLE clicks AS SELECT * FROM STREAM orders;
-- refused: S001

-- name: CREATE OR REPLACE TEMPORARY VIEW
CREATE OR REPLACE TEMPORARY VIEW large AS SELECT order_id FROM orders WHERE amount > 100;
-- same as
CREATE OR REPLACE VIEW large AS SELECT order_id FROM orders WHERE amount > 100;

-- name: CREATE TEMP VIEW
CREATE TEMP VIEW large AS SELECT order_id FROM orders WHERE amount > 100;
-- same as
CREATE VIEW large AS SELECT order_id FROM orders WHERE amount > 100;

-- name: comments of a view
CREATE VIEW large (id COMMENT 'the id') COMMENT 'large orders' AS SELECT order_id FROM orders WHERE amount > 100;
-- same as
CREATE VIEW large AS SELECT order_id AS id FROM orders WHERE amount > 100;

-- name: types of columns
CREATE STREAM kinds (
  a BYTE, b SHORT, c INT, d LONG, e REAL, f DOUBLE, g DEC(10, 2), h BOOLEAN, i STRING, j BINARY, k DATE, l TIMESTAMP,
  m TIMESTAMP_LTZ, n ARRAY<INT>, o MAP<STRING, INT>, p STRUCT<a: INT, b: STRING>)
WITH (connector = 'files', path = 'kinds', format = 'json');
-- same as
CREATE STREAM kinds (
  a TINYINT, b SMALLINT, c INT, d BIGINT, e FLOAT, f DOUBLE, g DECIMAL(10, 2), h BOOLEAN, i STRING, j BINARY, k DATE,
  l TIMESTAMP, m TIMESTAMP, n ARRAY<INT>, o MAP<STRING, INT>, p STRUCT<a: INT, b: STRING>)
WITH (connector = 'files', path = 'kinds', format = 'json');

-- name: a decimal without digits
CREATE STREAM kinds (a DECIMAL, b DECIMAL(5)) WITH (connector = 'files', path = 'kinds', format = 'json');
-- same as
CREATE STREAM kinds (a DECIMAL(10, 0), b DECIMAL(5, 0)) WITH (connector = 'files', path = 'kinds', format = 'json');

-- name: VARIANT
CREATE STREAM kinds (a VARIANT) WITH (connector = 'files', path = 'kinds', format = 'json');
-- refused: S011

-- name: CACHE TABLE
CACHE TABLE users;
-- refused: S001

-- name: SHOW TABLES IN
SHOW TABLES IN default;
-- refused: S001

-- name: DESCRIBE TABLE
DESCRIBE TABLE users;
-- same as
DESCRIBE users;

-- name: DESCRIBE TABLE EXTENDED
DESCRIBE TABLE EXTENDED users;
-- same as
DESCRIBE users;

-- name: SET of Spark
SET spark.sql.shuffle.partitions = 8;
-- refused: C007

-- name: INSERT OVERWRITE
INSERT OVERWRITE TABLE user_totals SELECT user_id, SUM(amount) FROM orders GROUP BY user_id;
-- refused: S001

-- name: INSERT INTO TABLE
INSERT INTO TABLE alerts SELECT STREAM user_id, product, amount FROM orders;
-- same as
INSERT INTO alerts SELECT STREAM user_id, product, amount FROM orders;

-- name: MERGE INTO
MERGE INTO user_totals t USING orders o ON t.user_id = o.user_id
WHEN MATCHED THEN UPDATE SET total = o.amount WHEN NOT MATCHED THEN INSERT (user_id, total) VALUES (o.user_id, o.amount);
-- refused: S001

-- name: EXPLAIN EXTENDED
EXPLAIN EXTENDED SELECT user_id, COUNT(*) AS num FROM orders GROUP BY user_id;
-- same as
EXPLAIN PLAN SELECT user_id, COUNT(*) AS num FROM orders GROUP BY user_id;

-- name: USE
USE shop;
-- refused: S001
