-- Declarations of ksqlDB, and the statements around them.

-- name: a stream of a topic
CREATE STREAM clicks (user_id BIGINT KEY, url VARCHAR) WITH (KAFKA_TOPIC = 'clicks', VALUE_FORMAT = 'JSON');
-- refused: C008

-- name: a table of a topic
CREATE TABLE people (id BIGINT PRIMARY KEY, name VARCHAR) WITH (KAFKA_TOPIC = 'people', VALUE_FORMAT = 'JSON', PARTITIONS = 4);
-- refused: C008

-- name: a timestamp of a topic
CREATE STREAM clicks (user_id BIGINT KEY, at TIMESTAMP) WITH (KAFKA_TOPIC = 'clicks', VALUE_FORMAT = 'JSON', TIMESTAMP = 'at');
-- refused: C008

-- name: types of columns
CREATE STREAM kinds (
  a BOOLEAN, b INT, c INTEGER, d BIGINT, e DOUBLE, f DECIMAL(10, 2), g VARCHAR, h STRING, i BYTES, j DATE, k TIMESTAMP,
  l ARRAY<VARCHAR>, m MAP<VARCHAR, INT>, n STRUCT<a INT, b VARCHAR>)
WITH (connector = 'files', path = 'kinds', format = 'json');
-- same as
CREATE STREAM kinds (
  a BOOLEAN, b INT, c INT, d BIGINT, e DOUBLE, f DECIMAL(10, 2), g STRING, h STRING, i BINARY, j DATE, k TIMESTAMP,
  l ARRAY<STRING>, m MAP<STRING, INT>, n STRUCT<a: INT, b: STRING>)
WITH (connector = 'files', path = 'kinds', format = 'json');

-- name: a type of times alone
CREATE STREAM kinds (a TIME) WITH (connector = 'files', path = 'kinds', format = 'json');
-- same as
CREATE STREAM kinds (a TIME(3)) WITH (connector = 'files', path = 'kinds', format = 'json');

-- name: a header column
CREATE STREAM clicks (user_id BIGINT, source BYTES HEADER('source'))
WITH (connector = 'files', path = 'clicks', format = 'json');
-- refused: B002

-- name: CREATE OR REPLACE STREAM AS
CREATE OR REPLACE STREAM large AS SELECT order_id FROM orders WHERE amount > 100 EMIT CHANGES;
-- same as
CREATE OR REPLACE STREAM large AS SELECT STREAM order_id FROM orders WHERE amount > 100;

-- name: CREATE TABLE IF NOT EXISTS AS
CREATE TABLE IF NOT EXISTS counts AS SELECT user_id, COUNT(*) AS num FROM orders GROUP BY user_id EMIT CHANGES;
-- same as
CREATE TABLE IF NOT EXISTS counts AS SELECT user_id, COUNT(*) AS num FROM orders GROUP BY user_id;

-- name: SHOW STREAMS
SHOW STREAMS;
-- same as
SHOW STREAMS;

-- name: LIST STREAMS
LIST STREAMS;
-- same as
SHOW STREAMS;

-- name: LIST TABLES
LIST TABLES;
-- same as
SHOW TABLES;

-- name: SHOW QUERIES
SHOW QUERIES;
-- same as
SHOW QUERIES;

-- name: SHOW TOPICS
SHOW TOPICS;
-- refused: S001

-- name: DESCRIBE EXTENDED
DESCRIBE orders EXTENDED;
-- same as
DESCRIBE orders;

-- name: PRINT
PRINT 'orders' FROM BEGINNING;
-- refused: S001

-- name: TERMINATE
TERMINATE ALL;
-- refused: S001

-- name: DROP STREAM with its topic
DROP STREAM IF EXISTS alerts DELETE TOPIC;
-- refused: S001

-- name: DROP STREAM
DROP STREAM IF EXISTS alerts;
-- same as
DROP STREAM IF EXISTS alerts;

-- name: SET
SET 'auto.offset.reset' = 'earliest';
-- refused: C007

-- name: INSERT VALUES
INSERT INTO alerts (user_id, product, amount) VALUES (1, 'pump', 12.50);
-- refused: K024

-- name: ASSERT
ASSERT TOPIC clicks;
-- refused: S001

-- name: a table with windowed keys
CREATE TABLE clicks (page_id STRING PRIMARY KEY, num BIGINT)
WITH (connector = 'files', path = 'clicks', format = 'json', window_type = 'TUMBLING', window_size = '1 MINUTE');
-- refused: C002, PRIMARY KEY (id, window_start, window_end)

-- name: a stream with windowed keys
CREATE STREAM visits (page_id STRING KEY, num BIGINT)
WITH (connector = 'files', path = 'visits', format = 'json', window_type = 'SESSION');
-- refused: C002, window_start TIMESTAMP, window_end TIMESTAMP
