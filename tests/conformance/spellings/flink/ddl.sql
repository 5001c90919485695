-- Declarations of Flink SQL, and the statements around them.

-- name: a primary key that is not enforced
CREATE TABLE currency (code STRING, name STRING, PRIMARY KEY (code) NOT ENFORCED)
WITH ('connector' = 'files', 'path' = 'currency', 'format' = 'json');
-- same as
CREATE TABLE currency (code STRING PRIMARY KEY, name STRING)
WITH (connector = 'files', path = 'currency', format = 'json');

-- name: a primary key at its column
CREATE TABLE currency (code STRING PRIMARY KEY NOT ENFORCED, name STRING)
WITH ('connector' = 'files', 'path' = 'currency', 'format' = 'json');
-- same as
CREATE TABLE currency (code STRING PRIMARY KEY, name STRING)
WITH (connector = 'files', path = 'currency', format = 'json');

-- name: a primary key with a name
CREATE TABLE currency (code STRING, name STRING, CONSTRAINT pk PRIMARY KEY (code) NOT ENFORCED)
WITH ('connector' = 'files', 'path' = 'currency', 'format' = 'json');
-- same as
CREATE TABLE currency (code STRING PRIMARY KEY, name STRING)
WITH (connector = 'files', path = 'currency', format = 'json');

-- name: a primary key of two columns
CREATE TABLE stock (shop INT, item STRING, pieces INT, PRIMARY KEY (shop, item) NOT ENFORCED)
WITH ('connector' = 'files', 'path' = 'stock', 'format' = 'json');
-- same as
CREATE TABLE stock (shop INT PRIMARY KEY, item STRING PRIMARY KEY, pieces INT)
WITH (connector = 'files', path = 'stock', format = 'json');

-- name: a table without a primary key
-- Such a table of Flink is a stream.
CREATE TABLE clicks (user_id BIGINT, url STRING, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '5' SECOND)
WITH ('connector' = 'files', 'path' = 'clicks', 'format' = 'json');
-- refused: K007, CREATE STREAM

-- name: a stream with a watermark
CREATE STREAM clicks (user_id BIGINT, url STRING, `at` TIMESTAMP(3), WATERMARK FOR `at` AS `at` - INTERVAL '5' SECOND)
WITH ('connector' = 'files', 'path' = 'clicks', 'format' = 'json');
-- same as
CREATE STREAM clicks (user_id BIGINT, url STRING, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL '5' SECOND)
WITH (connector = 'files', path = 'clicks', format = 'json');

-- name: a watermark without a delay
CREATE STREAM clicks (user_id BIGINT, at TIMESTAMP_LTZ(3), WATERMARK FOR at AS at)
WITH ('connector' = 'files', 'path' = 'clicks', 'format' = 'json');
-- same as
CREATE STREAM clicks (user_id BIGINT, at TIMESTAMP, WATERMARK FOR at AS at)
WITH (connector = 'files', path = 'clicks', format = 'json');

-- name: a watermark of one millisecond
CREATE STREAM clicks (user_id BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '0.001' SECOND)
WITH ('connector' = 'files', 'path' = 'clicks', 'format' = 'json');
-- same as
CREATE STREAM clicks (user_id BIGINT, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL '1' MILLISECOND)
WITH (connector = 'files', path = 'clicks', format = 'json');

-- name: types of columns
CREATE STREAM kinds (
  a TINYINT, b SMALLINT, c INTEGER, d BIGINT, e FLOAT, f DOUBLE PRECISION, g DECIMAL(10, 2), h NUMERIC(8, 3), i BOOLEAN,
  j STRING, k VARCHAR(20), l CHAR(3), m BYTES, n VARBINARY(10), o DATE, p TIMESTAMP(3), q TIMESTAMP_LTZ(3),
  r ARRAY<INT>, s MAP<STRING, INT>, t ROW<a INT, b STRING>)
WITH ('connector' = 'files', 'path' = 'kinds', 'format' = 'json');
-- same as
CREATE STREAM kinds (
  a TINYINT, b SMALLINT, c INT, d BIGINT, e FLOAT, f DOUBLE, g DECIMAL(10, 2), h DECIMAL(8, 3), i BOOLEAN,
  j STRING, k STRING, l STRING, m BINARY, n BINARY, o DATE, p TIMESTAMP, q TIMESTAMP,
  r ARRAY<INT>, s MAP<STRING, INT>, t STRUCT<a: INT, b: STRING>)
WITH (connector = 'files', path = 'kinds', format = 'json');

-- name: long names of times with zones
CREATE STREAM kinds (p TIMESTAMP(3) WITH LOCAL TIME ZONE, q TIMESTAMP(3) WITHOUT TIME ZONE)
WITH ('connector' = 'files', 'path' = 'kinds', 'format' = 'json');
-- same as
CREATE STREAM kinds (p TIMESTAMP, q TIMESTAMP) WITH (connector = 'files', path = 'kinds', format = 'json');

-- name: a row type in parentheses
CREATE STREAM nested (id BIGINT, place ROW(city STRING, zip STRING))
WITH ('connector' = 'files', 'path' = 'nested', 'format' = 'json');
-- same as
CREATE STREAM nested (id BIGINT, place STRUCT<city: STRING, zip: STRING>)
WITH (connector = 'files', path = 'nested', format = 'json');

-- name: columns that are not null
CREATE STREAM strict (id BIGINT NOT NULL, name STRING NOT NULL COMMENT 'the full name')
WITH ('connector' = 'files', 'path' = 'strict', 'format' = 'json');
-- same as
CREATE STREAM strict (id BIGINT NOT NULL, name STRING NOT NULL)
WITH (connector = 'files', path = 'strict', format = 'json');

-- name: comments of columns and tables
CREATE STREAM described (id BIGINT COMMENT 'the id', name STRING) COMMENT 'who buys'
WITH ('connector' = 'files', 'path' = 'described', 'format' = 'json');
-- same as
CREATE STREAM described (id BIGINT, name STRING) WITH (connector = 'files', path = 'described', format = 'json');

-- name: a computed column
CREATE STREAM sales (price DECIMAL(10, 2), pieces INT, cost AS price * pieces)
WITH ('connector' = 'files', 'path' = 'sales', 'format' = 'json');
-- same as
CREATE STREAM sales (price DECIMAL(10, 2), pieces INT, cost AS price * pieces)
WITH (connector = 'files', path = 'sales', format = 'json');

-- name: an event time that is computed
CREATE STREAM clicks (
  millis BIGINT, at AS TO_TIMESTAMP_LTZ(millis, 3), WATERMARK FOR at AS at - INTERVAL '5' SECOND)
WITH ('connector' = 'files', 'path' = 'clicks', 'format' = 'json');
-- same as
CREATE STREAM clicks (
  millis BIGINT, at AS TIMESTAMP_MILLIS(millis), WATERMARK FOR at AS at - INTERVAL '5' SECOND)
WITH (connector = 'files', path = 'clicks', format = 'json');

-- name: a column of processing time
CREATE STREAM clicks (id BIGINT, proc_time AS PROCTIME())
WITH ('connector' = 'files', 'path' = 'clicks', 'format' = 'json');
-- same as
CREATE STREAM clicks (id BIGINT, proc_time AS CURRENT_TIMESTAMP())
WITH (connector = 'files', path = 'clicks', format = 'json');

-- name: a metadata column
CREATE STREAM clicks (id BIGINT, at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp')
WITH ('connector' = 'files', 'path' = 'clicks', 'format' = 'json');
-- refused: K026, 'file.modification-time' TIMESTAMP

-- name: a virtual metadata column
CREATE STREAM clicks (id BIGINT, `offset` BIGINT METADATA VIRTUAL)
WITH ('connector' = 'files', 'path' = 'clicks', 'format' = 'json');
-- refused: K026

-- name: metadata of files
CREATE STREAM clicks (
  id BIGINT, path STRING NOT NULL METADATA FROM 'file.path', `file.name` STRING METADATA VIRTUAL,
  size BIGINT METADATA FROM 'file.size' VIRTUAL, at TIMESTAMP_LTZ(3) METADATA FROM 'file.modification-time',
  WATERMARK FOR at AS at - INTERVAL '5' SECOND
) WITH ('connector' = 'files', 'path' = 'clicks', 'format' = 'json');
CREATE STREAM named AS SELECT id, `file.name` AS f FROM clicks WHERE size > 0;
-- same as
CREATE STREAM clicks (
  id BIGINT, path STRING METADATA FROM 'file.path', `file.name` STRING METADATA FROM 'file.name' VIRTUAL,
  size BIGINT METADATA FROM 'file.size' VIRTUAL, at TIMESTAMP METADATA FROM 'file.modification-time',
  WATERMARK FOR at AS at - INTERVAL '5' SECOND
) WITH (connector = 'files', path = 'clicks', format = 'json');
CREATE STREAM named AS SELECT STREAM id, `file.name` AS f FROM clicks WHERE size > 0;

-- name: metadata that are written
CREATE STREAM named (id BIGINT, f STRING METADATA FROM 'file.name')
WITH ('connector' = 'files', 'path' = 'named', 'format' = 'json');
INSERT INTO named SELECT order_id FROM orders;
-- refused: K008, VIRTUAL

-- name: virtual metadata of a sink
CREATE STREAM named (id BIGINT, f STRING METADATA FROM 'file.name' VIRTUAL)
WITH ('connector' = 'files', 'path' = 'named', 'format' = 'json');
INSERT INTO named SELECT order_id FROM orders;
-- same as
CREATE STREAM named (id BIGINT, f STRING METADATA FROM 'file.name' VIRTUAL)
WITH (connector = 'files', path = 'named', format = 'json');
INSERT INTO named (id) SELECT STREAM order_id FROM orders;

-- name: partitions of a table of files
CREATE STREAM clicks (id BIGINT, day STRING) PARTITIONED BY (day)
WITH ('connector' = 'files', 'path' = 'clicks', 'format' = 'json');
-- refused: B002

-- name: a connector that Penstock does not have
CREATE STREAM clicks (id BIGINT) WITH ('connector' = 'hbase-2.2', 'table-name' = 'clicks');
-- refused: C001

-- name: rows that are made
CREATE STREAM clicks (id BIGINT) WITH ('connector' = 'datagen', 'fields.id.kind' = 'sequence', 'fields.id.end' = '9');
-- same as
CREATE STREAM clicks (id BIGINT) WITH (connector = 'datagen', fields.id.kind = 'sequence', fields.id.end = 9);

-- name: options of datagen in the words of Flink
CREATE STREAM clicks (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '10');
-- refused: C002, did you mean rows_per_second?

-- name: rows that are printed
CREATE STREAM shown (id BIGINT) WITH ('connector' = 'print');
-- same as
CREATE STREAM shown (id BIGINT) WITH (connector = 'print');

-- name: rows that are dropped
CREATE STREAM dropped (id BIGINT) WITH ('connector' = 'blackhole');
-- same as
CREATE STREAM dropped (id BIGINT) WITH (connector = 'blackhole');

-- name: options of Kafka in the words of Flink
CREATE STREAM clicks (id BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'clicks', 'properties.bootstrap.servers' = 'broker:9092',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'json');
-- refused: C002

-- name: IF NOT EXISTS
CREATE STREAM IF NOT EXISTS bid (id BIGINT) WITH ('connector' = 'files', 'path' = 'other', 'format' = 'json');
-- same as
CREATE STREAM IF NOT EXISTS bid (id BIGINT) WITH (connector = 'files', path = 'other', format = 'json');

-- name: a table like another
CREATE TABLE more_users WITH ('path' = 'more_users') LIKE users;
-- same as
CREATE TABLE more_users (user_id BIGINT PRIMARY KEY, name STRING, region STRING, gender STRING)
WITH (connector = 'files', path = 'more_users', format = 'json', operation = 'op');

-- name: CREATE TEMPORARY VIEW
CREATE TEMPORARY VIEW large AS SELECT order_id FROM orders WHERE amount > 100;
-- same as
CREATE VIEW large AS SELECT order_id FROM orders WHERE amount > 100;

-- name: names of the columns of a view
CREATE VIEW large (id, value_of) AS SELECT order_id, amount FROM orders WHERE amount > 100;
-- same as
CREATE VIEW large AS SELECT order_id AS id, amount AS value_of FROM orders WHERE amount > 100;

-- name: a table that is made from a query
CREATE TABLE totals WITH ('connector' = 'files', 'path' = 'out/totals', 'format' = 'json', 'operation' = 'op')
AS SELECT user_id, SUM(amount) AS total FROM orders GROUP BY user_id;
-- same as
CREATE TABLE totals WITH (connector = 'files', path = 'out/totals', format = 'json', operation = 'op')
AS SELECT user_id, SUM(amount) AS total FROM orders GROUP BY user_id;

-- name: STATEMENT SET
EXECUTE STATEMENT SET BEGIN
INSERT INTO alerts SELECT user_id, product, amount FROM orders;
INSERT INTO user_totals SELECT user_id, SUM(amount) FROM orders GROUP BY user_id;
END;
-- same as
INSERT INTO alerts SELECT user_id, product, amount FROM orders;
INSERT INTO user_totals SELECT user_id, SUM(amount) FROM orders GROUP BY user_id;

-- name: EXECUTE INSERT
EXECUTE INSERT INTO alerts SELECT user_id, product, amount FROM orders;
-- refused: S001

-- name: SET with quoted names
SET 'table.exec.state.ttl' = '1 d';
-- refused: C007

-- name: USE
USE CATALOG default_catalog;
-- refused: S001

-- name: SHOW TABLES
SHOW TABLES;
-- same as
SHOW TABLES;

-- name: SHOW VIEWS
SHOW VIEWS;
-- same as
SHOW VIEWS;

-- name: SHOW FUNCTIONS
SHOW FUNCTIONS;
-- same as
SHOW FUNCTIONS;

-- name: SHOW CREATE TABLE
SHOW CREATE TABLE users;
-- same as
SHOW CREATE TABLE users;

-- name: DESCRIBE
DESCRIBE users;
-- same as
DESCRIBE users;

-- name: DESC
DESC users;
-- same as
DESCRIBE users;

-- name: EXPLAIN PLAN FOR
EXPLAIN PLAN FOR SELECT user_id, COUNT(*) AS num FROM orders GROUP BY user_id;
-- same as
EXPLAIN PLAN SELECT user_id, COUNT(*) AS num FROM orders GROUP BY user_id;

-- name: DROP TABLE IF EXISTS
DROP TABLE IF EXISTS user_totals;
-- same as
DROP TABLE IF EXISTS user_totals;

-- name: DROP TABLE of what is not there
DROP TABLE IF EXISTS no_such_table;
-- same as
DROP TABLE IF EXISTS no_such_table;

-- name: DROP TEMPORARY VIEW
DROP TEMPORARY VIEW IF EXISTS no_such_view;
-- same as
DROP VIEW IF EXISTS no_such_view;
