-- What ksqlDB has and Penstock refuses, with the advice that it gives.

-- name: SELECT product FROM orders WHERE ROWTIME > 1510923225000 E
SELECT product FROM orders WHERE ROWTIME > 1510923225000 EMIT CHANGES;
-- refused: T003, TIMESTAMP_MILLIS(1510923225000)

-- name: DESCRIBE STREAMS
DESCRIBE STREAMS;
-- refused: K012, SHOW STREAMS

-- name: DESCRIBE TABLES
DESCRIBE TABLES;
-- refused: K012, SHOW TABLES

-- name: REDUCE(props, 0, (s, k, v) => s LEN(v))
CREATE STREAM v AS SELECT REDUCE(props, 0, (s, k, v) => s + LEN(v)) AS a FROM events;
-- refused: T006, REDUCE(MAP_ENTRIES(props), 0, (s, e) -> s + e.value), where e.key is the key of an entry

-- name: GEO_DISTANCE(1.0, 2.0, 3.0, 4.0)
CREATE STREAM v AS SELECT GEO_DISTANCE(1.0, 2.0, 3.0, 4.0) AS a FROM events;
-- refused: N005, 2 * 6371 * ASIN(SQRT(POWER(SIN(RADIANS(3.0 - 1.0) / 2), 2) + COS(RADIANS(1.0)) * COS(RADIA

-- name: SELECT user_id, HISTOGRAM(product) AS h FROM orders GROUP
SELECT user_id, HISTOGRAM(product) AS h FROM orders GROUP BY user_id EMIT CHANGES;
-- refused: N005, GROUP BY product, and COUNT(*)

-- name: UUID()
CREATE STREAM v AS SELECT UUID() AS a FROM events;
-- refused: N005, a key of the data, or a hash of one: MD5(CONCAT_WS('-', a, b)) is the same after a restart

-- name: RANDOM()
CREATE STREAM v AS SELECT RANDOM() AS a FROM events;
-- refused: N005, PMOD(HASH(key), 100) is a number from 0 to 99 that is the same after a restart

-- name: MASK_KEEP_LEFT(kind, 2)
CREATE STREAM v AS SELECT MASK_KEEP_LEFT(kind, 2) AS a FROM events;
-- refused: N005, LEFT(kind, 2) || MASK(SUBSTRING(kind, 2 + 1), 'X', 'x', 'n', '-')
