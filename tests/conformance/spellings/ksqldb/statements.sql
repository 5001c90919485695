-- Statements that ksqlDB's users write and Penstock does not have.

-- name: CREATE STREAM s1 id VARCHAR
CREATE STREAM s1 (id VARCHAR KEY, v DOUBLE, ts BIGINT) WITH (KAFKA_TOPIC='s1', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON', PARTITIONS=4, REPLICAS=1, TIMESTAMP='ts', TIMESTAMP_FORMAT='yyyy-MM-dd');
-- refused: C008, WITH (connector = 'kafka', topic = '

-- name: CREATE SOURCE TABLE st id
CREATE SOURCE TABLE st (id VARCHAR PRIMARY KEY, n VARCHAR) WITH (KAFKA_TOPIC='st', VALUE_FORMAT='AVRO');
-- refused: S001, CREATE TABLE st: every declared table is read

-- name: CREATE OR REPLACE TABLE per_user
CREATE OR REPLACE TABLE per_user WITH (KAFKA_TOPIC='per_user', PARTITIONS=2) AS SELECT user_id, COUNT(*) AS n FROM pageviews GROUP BY user_id EMIT CHANGES;
-- refused: C008, WITH (connector = 'kafka', topic = '

-- name: CREATE TABLE u AS SELECT
CREATE TABLE u AS SELECT user_id, LATEST_BY_OFFSET(page_id, 2) AS last2 FROM pageviews GROUP BY user_id;
-- refused: N005, SLICE(COLLECT_LIST(page_id ORDER BY ROWTIME DESC), 1, 2)

-- name: CREATE TABLE u AS SELECT 2
CREATE TABLE u AS SELECT user_id, EARLIEST_BY_OFFSET(page_id, true) AS first FROM pageviews GROUP BY user_id;
-- refused: N005, MIN_BY(page_id, ROWTIME)

-- name: SELECT ROWTIME ROWPARTITION ROWOFFSET FROM
SELECT ROWTIME, ROWPARTITION, ROWOFFSET FROM pageviews EMIT CHANGES;
-- refused: N001, place INT METADATA FROM 'partition' VIRTUAL

-- name: SELECT TIMESTAMPTOSTRING ROWTIME yyyy MM
SELECT TIMESTAMPTOSTRING(ROWTIME, 'yyyy-MM-dd HH:mm:ss.SSS', 'UTC') FROM pageviews EMIT CHANGES LIMIT 5;
-- refused: S009, leave it out here; penstock query and

-- name: SELECT EXTRACTJSONFIELD payload a b
SELECT EXTRACTJSONFIELD(payload, '$.a.b'), JSON_ITEMS(payload) FROM events EMIT CHANGES;
-- refused: N005, FROM_JSON(payload, 'ARRAY<STRING>')

-- name: SELECT SPLIT_TO_MAP payload MAP_KEYS props
SELECT SPLIT_TO_MAP(payload, ',', '='), MAP_KEYS(props), AS_MAP(tags, numbers), MAP_VALUES(props), MAP_UNION(props, props), ELT(1, 'a', 'b'), FIELD('a', 'b', 'a'), GENERATE_SERIES(1, 5), SLICE(tags, 1, 2), ARRAY_EXCEPT(tags, tags), ARRAY_INTERSECT(tags, tags), ARRAY_UNION(tags, tags), ARRAY_MAX(numbers), ARRAY_MIN(numbers), ARRAY_REMOVE(tags, 'a'), ARRAY_SORT(tags), ARRAY_CONCAT(tags, tags), ENTRIES(props, true) FROM events EMIT CHANGES;
-- refused: N005, STR_TO_MAP(payload, ',', '=')

-- name: SELECT FORMAT_TIME PARSE_TIME 10 00
SELECT FORMAT_TIME(PARSE_TIME('10:00', 'HH:mm'), 'HH'), TIMEADD(HOURS, 1, PARSE_TIME('10:00', 'HH:mm')), DATEADD(DAYS, 1, day), DATESUB(DAYS, 1, day), TIMESTAMPSUB(HOURS, 1, ts), CONVERT_TZ(ts, 'UTC', 'Europe/Berlin'), FROM_DAYS(1), UNIX_DATE(day), UNIX_TIMESTAMP(ts), TIMESUB(HOURS, 1, PARSE_TIME('10:00', 'HH:mm')) FROM events EMIT CHANGES;
-- refused: N005, CAST(PARSE_TIME('10:00', 'HH:mm') AS STRING)

-- name: SELECT FROM_BYTES TO_BYTES kind utf8
SELECT FROM_BYTES(TO_BYTES(kind, 'utf8'), 'hex'), BIGINT_FROM_BYTES(TO_BYTES('00', 'hex')), INT_FROM_BYTES(TO_BYTES('00', 'hex')) FROM events EMIT CHANGES;
-- refused: N005, HEX(TO_BYTES(kind, 'utf8'))

-- name: SELECT kind CORRELATION score id
SELECT kind, CORRELATION(score, id), STDDEV_SAMP(score), STDDEV_SAMPLE(score), SUM(score), ATTR(kind) FROM events WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY kind EMIT CHANGES;
-- refused: N005, CORR(score, id)

-- name: SELECT kind SUM_LIST COLLECT_LIST id
SELECT kind, SUM_LIST(COLLECT_LIST(id)) FROM events WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY kind EMIT CHANGES;
-- refused: N004

-- name: SELECT ROWTIME o order_id FROM
SELECT ROWTIME, o.order_id FROM orders o JOIN shipments s WITHIN 1 HOUR ON o.order_id = s.order_id EMIT CHANGES;
-- refused: N002, GREATEST(o.order_time, s.ship_time), or one of

-- name: SELECT ROWKEY FROM pageviews EMIT
SELECT ROWKEY FROM pageviews EMIT CHANGES;
-- refused: N001, name the key column

-- name: SELECT user_id COUNT FROM pageviews
SELECT user_id, COUNT(*) FROM pageviews WINDOW TUMBLING (SIZE 1 HOUR, RETENTION 7 DAYS, GRACE PERIOD 30 MINUTES) GROUP BY user_id EMIT FINAL;
-- refused: W005, CREATE TABLE windows AS in front of the query

-- name: DESCRIBE FUNCTION SUM
DESCRIBE FUNCTION SUM;
-- refused: S001, docs/functions.md describes each function; SHOW

-- name: SHOW PROPERTIES
SHOW PROPERTIES;
-- refused: S001, SHOW STREAMS, SHOW TABLES, SHOW VIEWS, SHOW

-- name: SHOW VARIABLES
SHOW VARIABLES;
-- refused: S001, SHOW STREAMS, SHOW TABLES, SHOW VIEWS, SHOW

-- name: SHOW CONNECTORS
SHOW CONNECTORS;
-- refused: S001, SHOW STREAMS, SHOW TABLES, SHOW VIEWS, SHOW

-- name: SHOW TYPES
SHOW TYPES;
-- refused: S001, SHOW STREAMS, SHOW TABLES, SHOW VIEWS, SHOW

-- name: SHOW ALL TOPICS EXTENDED
SHOW ALL TOPICS EXTENDED;
-- refused: S001, SHOW STREAMS, SHOW TABLES, SHOW VIEWS, SHOW

-- name: SHOW STREAMS EXTENDED
SHOW STREAMS EXTENDED;
-- refused: S001, leave it out: SHOW prints all it knows

-- name: SHOW QUERIES EXTENDED
SHOW QUERIES EXTENDED;
-- refused: S001, leave it out: SHOW prints all it knows

-- name: EXPLAIN CSAS_X_1
EXPLAIN CSAS_X_1;
-- refused: S001, EXPLAIN PLAN, STATE, PHYSICAL, PARTITIONS, SPARK, CODE or

-- name: PAUSE q1
PAUSE q1;
-- refused: S001, PAUSE QUERY q1

-- name: RESUME ALL
RESUME ALL;
-- refused: S001, RESUME QUERY takes the name of one query; SHOW

-- name: PAUSE ALL
PAUSE ALL;
-- refused: S001, PAUSE QUERY takes the name of one query; SHOW

-- name: DEFINE topic x
DEFINE topic = 'x';
-- refused: S001, the shell that calls penstock has variables

-- name: UNDEFINE topic
UNDEFINE topic;
-- refused: S001, the shell that calls penstock has variables

-- name: RUN SCRIPT tmp x sql
RUN SCRIPT '/tmp/x.sql';
-- refused: S001, penstock takes several files: penstock run

-- name: CREATE TYPE addr AS STRUCT
CREATE TYPE addr AS STRUCT<city VARCHAR, zip VARCHAR>;
-- refused: S001, write the type where it is used: STRUCT<a: INT,

-- name: DROP TYPE addr
DROP TYPE addr;
-- refused: S001, types have no names of their own

-- name: CREATE SOURCE CONNECTOR c WITH
CREATE SOURCE CONNECTOR c WITH ('connector.class' = 'x');
-- refused: S001, the options of a CREATE STREAM or TABLE say

-- name: DROP CONNECTOR c
DROP CONNECTOR c;
-- refused: S001, DROP STREAM, DROP TABLE, DROP VIEW and DROP

-- name: ALTER STREAM pageviews ADD COLUMN
ALTER STREAM pageviews ADD COLUMN x INT;
-- refused: S001, change the declaration in the script;

-- name: ALTER SYSTEM auto offset reset
ALTER SYSTEM 'auto.offset.reset' = 'earliest';
-- refused: S001, change the declaration in the script;

-- name: UNSET auto offset reset
UNSET 'auto.offset.reset';
-- refused: S001, leave it out: it sets what belongs to another

-- name: PRINT pageviews FROM BEGINNING LIMIT
PRINT 'pageviews' FROM BEGINNING LIMIT 3;
-- refused: S001, SELECT STREAM * FROM a stream of that topic shows its rows

-- name: PRINT pageviews FROM BEGINNING
PRINT pageviews FROM BEGINNING;
-- refused: S001, SELECT STREAM * FROM pageviews shows the rows

-- name: DROP TABLE IF EXISTS users
DROP TABLE IF EXISTS users DELETE TOPIC;
-- refused: S001, leave it out: DROP forgets the declaration, and

-- name: ASSERT TOPIC t WITH PARTITIONS
ASSERT TOPIC t WITH (PARTITIONS=3) TIMEOUT 5 SECONDS;
-- refused: S001, `penstock check` judges a script, and `penstock

-- name: ASSERT SCHEMA SUBJECT s TIMEOUT
ASSERT SCHEMA SUBJECT s TIMEOUT 5 SECONDS;
-- refused: S001, `penstock check` judges a script, and `penstock

-- name: ASSERT NOT EXISTS TOPIC t
ASSERT NOT EXISTS TOPIC t;
-- refused: S001, `penstock check` judges a script, and `penstock

-- name: SHOW CUSTOM PROPERTIES
SHOW CUSTOM PROPERTIES;
-- refused: S001, SHOW STREAMS, SHOW TABLES, SHOW VIEWS, SHOW

-- name: SELECT user_id EXPLODE GENERATE_SERIES 1
SELECT user_id, EXPLODE(GENERATE_SERIES(1, 3)) FROM pageviews EMIT CHANGES;
-- refused: N005, SEQUENCE(1, 3)

-- name: CREATE TABLE t id BIGINT
CREATE TABLE t (id BIGINT PRIMARY KEY, m MAP<STRING, INTEGER>, a ARRAY<STRING>, s STRUCT<x INT, y VARCHAR>, d DATE, t TIME, ts TIMESTAMP, b BYTES, dec DECIMAL(10,2), bo BOOLEAN) WITH (KAFKA_TOPIC='t', FORMAT='JSON');
-- refused: C008, WITH (connector = 'kafka', topic = '

-- name: CREATE STREAM wk k STRING
CREATE STREAM wk (k STRING KEY, v INT) WITH (KAFKA_TOPIC='w', FORMAT='JSON', WINDOW_TYPE='Tumbling', WINDOW_SIZE='1 HOUR');
-- refused: C008, WITH (connector = 'kafka', topic = '

-- name: CREATE STREAM noval id INT
CREATE STREAM noval (id INT KEY) WITH (KAFKA_TOPIC='n', KEY_FORMAT='JSON', VALUE_FORMAT='NONE');
-- refused: C008, WITH (connector = 'kafka', topic = '

-- name: CREATE STREAM de v STRING
CREATE STREAM de (v STRING) WITH (KAFKA_TOPIC='n', VALUE_FORMAT='DELIMITED', VALUE_DELIMITER='|');
-- refused: C008, WITH (connector = 'kafka', topic = '

-- name: CREATE STREAM pb v STRING
CREATE STREAM pb (v STRING) WITH (KAFKA_TOPIC='n', VALUE_FORMAT='PROTOBUF', VALUE_SCHEMA_ID=3);
-- refused: C008, WITH (connector = 'kafka', topic = '

-- name: SELECT FROM pageviews p JOIN
SELECT * FROM pageviews p JOIN users u ON p.user_id = u.user_id WHERE u.region = 'x' EMIT CHANGES;
-- refused: K010, p.*, u.* EXCEPT (user_id), or JOIN … USING (user_id)

-- name: SELECT 1 2 a b
SELECT 1 + 2, 'a' + 'b' FROM pageviews EMIT CHANGES;
-- refused: T002, 'a' || 'b'
