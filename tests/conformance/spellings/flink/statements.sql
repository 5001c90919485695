-- Statements that Flink's users write and Penstock does not have.

-- name: CREATE TABLE clicks user STRING
CREATE TABLE clicks (`user` STRING, url STRING, `at` TIMESTAMP_LTZ(3), WATERMARK FOR `at` AS `at` - INTERVAL '3' SECONDS) WITH ('connector' = 'kafka', 'topic' = 'clicks', 'properties.bootstrap.servers' = 'localhost:9092', 'properties.group.id' = 'g', 'scan.startup.mode' = 'earliest-offset', 'format' = 'json', 'json.ignore-parse-errors' = 'true');
-- refused: K007, mark the column that identifies a row: id

-- name: window_start window_end FIRST_VALUE product LAST_VALUE
SELECT STREAM window_start, window_end, FIRST_VALUE(product), LAST_VALUE(product) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end;
-- refused: T008, MIN_BY(product, ROWTIME) beside GROUP BY, or

-- name: window_start window_end SUM t FROM
SELECT STREAM window_start, window_end, SUM(t) FROM TABLE(TUMBLE(TABLE (SELECT window_time AS rt, user_id, SUM(amount) AS t FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end, window_time, user_id), DESCRIPTOR(rt), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end;
-- refused: S001, give the query a name before it: WITH q AS (the

-- name: FROM SELECT ROW_NUMBER OVER PARTITION
SELECT STREAM * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY order_time DESC) AS rn FROM orders) WHERE rn = 1;
-- refused: W021, GROUP BY user_id, and MAX_BY(value, order_time)

-- name: L order_id R carrier COALESCE
SELECT STREAM L.order_id, R.carrier, COALESCE(L.window_start, R.window_start) FROM (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '5' MINUTES))) L FULL JOIN (SELECT * FROM TABLE(TUMBLE(TABLE shipments, DESCRIPTOR(ship_time), INTERVAL '5' MINUTES))) R ON L.order_id = R.order_id AND L.window_start = R.window_start AND L.window_end = R.window_end;
-- same as
SELECT STREAM L.order_id, R.carrier, COALESCE(L.window_start, R.window_start)
FROM TUMBLE(orders, order_time, INTERVAL '5' MINUTE) L FULL JOIN TUMBLE(shipments, ship_time, INTERVAL '5' MINUTE) R
ON L.order_id = R.order_id AND L.window_start = R.window_start AND L.window_end = R.window_end;

-- name: FROM SELECT FROM TABLE TUMBLE
SELECT STREAM * FROM (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '5' MINUTES))) L WHERE L.order_id IN (SELECT order_id FROM (SELECT * FROM TABLE(TUMBLE(TABLE shipments, DESCRIPTOR(ship_time), INTERVAL '5' MINUTES))) R WHERE L.window_start = R.window_start AND L.window_end = R.window_end);
-- refused: J007, LEFT SEMI JOIN and ON the keys, with a bound on

-- name: id word length FROM events
SELECT STREAM id, word, length FROM events LEFT JOIN LATERAL TABLE(SplitFunction(payload)) AS T(word, length) ON TRUE;
-- refused: S026, CROSS JOIN UNNEST(array)

-- name: JSON_QUERY payload items id WITH
SELECT STREAM JSON_QUERY(payload, '$.items[*].id' WITH WRAPPER) FROM events;
-- refused: S001, GET_JSON_OBJECT(json, '$.path') is the text at

-- name: JSON_OBJECT id VALUE id kind
SELECT STREAM JSON_OBJECT('id' VALUE id, 'kind' VALUE kind) FROM events;
-- refused: S001, TO_JSON(NAMED_STRUCT('name', value)) writes an

-- name: JSON_OBJECT KEY id VALUE id
SELECT STREAM JSON_OBJECT(KEY 'id' VALUE id NULL ON NULL) FROM events;
-- refused: S001, TO_JSON(NAMED_STRUCT('name', value)) writes an

-- name: JSON_ARRAY id kind FROM events
SELECT STREAM JSON_ARRAY(id, kind) FROM events;
-- refused: N005, TO_JSON(ARRAY(id, kind))

-- name: JSON_STRING tags FROM events
SELECT STREAM JSON_STRING(tags) FROM events;
-- refused: N005, TO_JSON(tags)

-- name: payload IS JSON FROM events
SELECT STREAM payload IS JSON FROM events;
-- refused: S001, JSON_OBJECT_KEYS(text) IS NOT NULL tells

-- name: payload IS JSON OBJECT FROM
SELECT STREAM payload IS JSON OBJECT FROM events;
-- refused: S001, JSON_OBJECT_KEYS(text) IS NOT NULL tells

-- name: JSON_VALUE payload a RETURNING INT
SELECT STREAM JSON_VALUE(payload, '$.a' RETURNING INT DEFAULT 0 ON EMPTY) FROM events;
-- refused: S001, GET_JSON_OBJECT(json, '$.path') is the text at

-- name: JSON_VALUE payload lax a NULL
SELECT STREAM JSON_VALUE(payload, 'lax $.a' NULL ON EMPTY NULL ON ERROR) FROM events;
-- refused: S001, GET_JSON_OBJECT(json, '$.path') is the text at

-- name: JSON_OBJECTAGG KEY kind VALUE id
SELECT STREAM JSON_OBJECTAGG(KEY kind VALUE id) FROM events GROUP BY TUMBLE(ts, INTERVAL '1' HOUR);
-- refused: S001, TO_JSON(MAP_FROM_ENTRIES(COLLECT_LIST(STRUCT(nam

-- name: JSON_ARRAYAGG id FROM events GROUP
SELECT STREAM JSON_ARRAYAGG(id) FROM events GROUP BY TUMBLE(ts, INTERVAL '1' HOUR);
-- refused: N005, TO_JSON(COLLECT_LIST(id))

-- name: kind COLLECT id FROM events
SELECT STREAM kind, COLLECT(id) FROM events GROUP BY kind, TUMBLE(ts, INTERVAL '1' HOUR);
-- refused: N005, COLLECT_LIST(id)

-- name: ts ts INTERVAL 1 HOUR
SELECT STREAM (ts, ts + INTERVAL '1' HOUR) OVERLAPS (ts, INTERVAL '2' HOUR) FROM events;
-- refused: S001, two spans overlap where start1 < end2 AND

-- name: REGEXP url a LOCATE a
SELECT STREAM REGEXP(url, 'a.*'), LOCATE('a', url), INITCAP(channel), LPAD(channel, 10, ' '), REPEAT('a', 3), REVERSE(channel) FROM bid;
-- refused: N001, known: auction, bidder, price, channel, url,

-- name: HASH_CODE channel FROM bid
SELECT STREAM HASH_CODE(channel) FROM bid;
-- refused: N005, HASH(channel)

-- name: TRY_CAST payload AS INT CAST
SELECT STREAM TRY_CAST(payload AS INT), CAST(score AS DECIMAL(10,2)), CAST(id AS VARCHAR(20)), CAST(tags AS STRING) FROM events;
-- refused: T009, STRING

-- name: ARRAY_CONTAINS tags a ARRAY_DISTINCT tags
SELECT STREAM ARRAY_CONTAINS(tags, 'a'), ARRAY_DISTINCT(tags), ARRAY_POSITION(tags, 'a'), ARRAY_REMOVE(tags, 'a'), ARRAY_REVERSE(tags), ARRAY_SLICE(tags, 1, 2), ARRAY_SORT(tags), ARRAY_UNION(tags, tags), ARRAY_CONCAT(tags, tags), ARRAY_MAX(numbers), ARRAY_JOIN(tags, ',') FROM events;
-- refused: N005, SLICE(tags, 1, 2 - 1 + 1)

-- name: MAP_KEYS props MAP_VALUES props MAP_ENTRIES
SELECT STREAM MAP_KEYS(props), MAP_VALUES(props), MAP_ENTRIES(props), MAP_UNION(props, props), MAP_FROM_ARRAYS(tags, tags) FROM events;
-- refused: N005, MAP_CONCAT(props, props)

-- name: GREATEST id epoch LEAST id
SELECT STREAM GREATEST(id, epoch), LEAST(id, epoch), NULLIF(id, 1), IS_ALPHA(kind), IS_DIGIT(kind), IS_DECIMAL(kind) FROM events;
-- refused: N005, kind RLIKE '^[A-Za-z]+$'

-- name: CREATE FUNCTION f AS com
CREATE FUNCTION f AS 'com.example.F' LANGUAGE JAVA;
-- refused: S001, leave it out: queries run no code of their own;

-- name: CREATE CATALOG c WITH type
CREATE CATALOG c WITH ('type' = 'jdbc');
-- refused: S001, leave it out: names have no catalog, database

-- name: CREATE DATABASE IF NOT EXISTS
CREATE DATABASE IF NOT EXISTS db;
-- refused: S001, leave it out: names have no catalog, database

-- name: USE CATALOG c
USE CATALOG c;
-- refused: S001, leave it out: names have no catalog, database

-- name: ALTER TABLE users RENAME TO
ALTER TABLE users RENAME TO people;
-- refused: S001, change the declaration in the script;

-- name: SHOW COLUMNS FROM users
SHOW COLUMNS FROM users;
-- refused: S001, DESCRIBE users

-- name: SHOW JOBS
SHOW JOBS;
-- refused: S001, SHOW QUERIES

-- name: STOP JOB abc WITH SAVEPOINT
STOP JOB 'abc' WITH SAVEPOINT;
-- refused: S001, DROP QUERY, or Ctrl-C, ends a query

-- name: RESET pipeline name
RESET 'pipeline.name';
-- refused: S001, leave it out: it sets what belongs to another

-- name: RESET
RESET;
-- refused: S001, leave it out: it sets what belongs to another

-- name: ADD JAR tmp x jar
ADD JAR '/tmp/x.jar';
-- refused: S001, leave it out: queries run no code of their own;

-- name: TRUNCATE TABLE users
TRUNCATE TABLE users;
-- refused: S001, rows of a table go by their keys: DELETE FROM

-- name: ANALYZE TABLE users COMPUTE STATISTICS
ANALYZE TABLE users COMPUTE STATISTICS;
-- refused: S001, leave it out: nothing is maintained by hand

-- name: COMPILE PLAN tmp p json
COMPILE PLAN '/tmp/p.json' FOR INSERT INTO alerts SELECT user_id, product, amount FROM orders;
-- refused: S001, `penstock compile` writes the program that a

-- name: EXPLAIN CHANGELOG_MODE ESTIMATED_COST SELECT FROM
EXPLAIN CHANGELOG_MODE, ESTIMATED_COST SELECT * FROM orders;
-- refused: S001, EXPLAIN PLAN, STATE, PHYSICAL, PARTITIONS, SPARK, CODE or

-- name: EXPLAIN JSON_EXECUTION_PLAN SELECT FROM orders
EXPLAIN JSON_EXECUTION_PLAN SELECT * FROM orders;
-- refused: S001, EXPLAIN PLAN, STATE, PHYSICAL, PARTITIONS, SPARK, CODE or

-- name: CREATE MATERIALIZED TABLE m PARTITIONED
CREATE MATERIALIZED TABLE m PARTITIONED BY (region) FRESHNESS = INTERVAL '1' HOUR AS SELECT * FROM users;
-- refused: S001, CREATE TABLE m AS SELECT keeps the result of a

-- name: CREATE TABLE t3 id BIGINT
CREATE TABLE t3 (id BIGINT, m STRING METADATA FROM 'value.format' VIRTUAL, PRIMARY KEY (id) NOT ENFORCED) DISTRIBUTED BY HASH(id) INTO 4 BUCKETS WITH ('connector' = 'upsert-kafka', 'topic' = 't', 'key.format' = 'json', 'value.format' = 'json', 'properties.bootstrap.servers' = 'localhost:9092');
-- refused: S001, leave it out: PARTITION BY in the query that

-- name: CREATE TABLE src id INT
CREATE TABLE src (id INT, v AS id * 2, proc AS PROCTIME()) WITH ('connector' = 'datagen', 'rows-per-second' = '5', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '10');
-- refused: K007, mark the column that identifies a row: id

-- name: CREATE TABLE p id INT
CREATE TABLE p (id INT) WITH ('connector' = 'print');
-- refused: K007, mark the column that identifies a row: id

-- name: CREATE TABLE bh id INT
CREATE TABLE bh (id INT) WITH ('connector' = 'blackhole');
-- refused: K007, mark the column that identifies a row: id

-- name: FROM orders MATCH_RECOGNIZE PARTITION BY
SELECT STREAM * FROM orders MATCH_RECOGNIZE (PARTITION BY user_id ORDER BY order_time MEASURES A.order_time AS s ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+ C) DEFINE B AS B.amount > 1) AS t;
-- refused: B002, LAG(value) OVER (PARTITION BY key ORDER BY time

-- name: CREATE MODEL m INPUT a
CREATE MODEL m INPUT (a INT) OUTPUT (b INT) WITH ('provider' = 'x');
-- refused: S001, leave it out: queries run no code of their own;

-- name: order_id FROM orders o WHERE
SELECT STREAM order_id FROM orders o WHERE EXISTS (SELECT 1 FROM shipments s WHERE s.order_id = o.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR);
-- refused: J007, LEFT SEMI JOIN shipments s ON s.order_id =

-- name: CREATE TABLE sw id INT
CREATE TABLE sw (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS SOURCE_WATERMARK()) WITH ('connector' = 'files', 'path' = 'x', 'format' = 'json');
-- refused: K007, mark the column that identifies a row: id

-- name: _utf8 a FROM orders
SELECT STREAM _utf8'a' FROM orders;
-- refused: S001, leave it out: texts are Unicode

-- name: order_time AT LOCAL FROM orders
SELECT STREAM order_time AT LOCAL FROM orders;
-- refused: S001, times are UTC; AT TIME ZONE 'Europe/Paris'

-- name: CAST order_time AS TIMESTAMP 0
SELECT STREAM CAST(order_time AS TIMESTAMP(0)), CAST(order_time AS TIMESTAMP WITH LOCAL TIME ZONE), CAST(order_time AS DATE) FROM orders;
-- refused: S026, DATE_TRUNC('SECOND', CAST(order_time AS

-- name: user_id FROM default_catalog default_database orders
SELECT STREAM user_id FROM default_catalog.default_database.orders;
-- refused: S001, names have no catalog, database or schema;

-- name: x y z FROM orders
SELECT STREAM x.y.z FROM orders x;
-- refused: N001, known: order_id, user_id, product, amount,
