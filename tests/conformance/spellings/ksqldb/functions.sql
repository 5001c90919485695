-- Functions and queries of ksqlDB.

-- name: SELECT TRUNC(score) AS t FROM events
CREATE STREAM a AS SELECT TRUNC(score) AS t FROM events;
-- refused: T005, SIGN(score) * FLOOR(ABS(score))

-- name: SELECT TRUNC(score, 2) AS t FROM events
CREATE STREAM a AS SELECT TRUNC(score, 2) AS t FROM events;
-- refused: T006, SIGN(score) * FLOOR(ABS(score) * POWER(10, 2)) / POWER(10, 2)

-- name: SELECT GENERATE_SERIES(1, 5) AS t FROM events
CREATE STREAM a AS SELECT GENERATE_SERIES(1, 5) AS t FROM events;
-- refused: N005, SEQUENCE(1, 5)

-- name: SELECT GENERATE_SERIES(1, 5, 2) AS t FROM events
CREATE STREAM a AS SELECT GENERATE_SERIES(1, 5, 2) AS t FROM events;
-- refused: N005, SEQUENCE(1, 5, 2)

-- name: SELECT ARRAY[1,2] AS a, MAP('a':=1,'b':=2) AS m, STRUCT(x:=1
CREATE STREAM a AS SELECT ARRAY[1,2] AS a, MAP('a':=1,'b':=2) AS m, STRUCT(x:=1) AS s FROM events;
-- same as
CREATE STREAM a AS SELECT ARRAY(1, 2) AS a, MAP('a', 1, 'b', 2) AS m, NAMED_STRUCT('x', 1) AS s FROM events;

-- name: SELECT ARRAY_CONCAT(tags, tags) AS a FROM events
CREATE STREAM a AS SELECT ARRAY_CONCAT(tags, tags) AS a FROM events;
-- refused: N005, tags || tags

-- name: SELECT ARRAY_CONTAINS(tags, 'x') AS a, ARRAY_DISTINCT(tags)
CREATE STREAM a AS SELECT ARRAY_CONTAINS(tags, 'x') AS a, ARRAY_DISTINCT(tags) AS b, ARRAY_EXCEPT(tags, tags) AS c, ARRAY_INTERSECT(tags, tags) AS d, ARRAY_JOIN(tags) AS e, ARRAY_JOIN(tags, '|') AS f, ARRAY_LENGTH(tags) AS g, ARRAY_MAX(numbers) AS h, ARRAY_MIN(numbers) AS i, ARRAY_REMOVE(tags, 'a') AS j, ARRAY_SORT(tags) AS k, ARRAY_UNION(tags, tags) AS l FROM events;
-- refused: T005, ARRAY_JOIN(tags, ',')

-- name: SELECT ARRAY_SORT(numbers, 'DESC') AS k FROM events
CREATE STREAM a AS SELECT ARRAY_SORT(numbers, 'DESC') AS k FROM events;
-- refused: T005, SORT_ARRAY(numbers, FALSE)

-- name: SELECT AS_MAP(tags, numbers) AS k FROM events
CREATE STREAM a AS SELECT AS_MAP(tags, numbers) AS k FROM events;
-- same as
CREATE STREAM a AS SELECT MAP_FROM_ARRAYS(tags, numbers) AS k FROM events;

-- name: SELECT ELT(1, 'a', 'b') AS k, FIELD('a', 'b', 'a') AS f FROM
CREATE STREAM a AS SELECT ELT(1, 'a', 'b') AS k, FIELD('a', 'b', 'a') AS f FROM events;
-- refused: N005, ARRAY_POSITION(ARRAY('b', 'a'), 'a')

-- name: SELECT ENTRIES(props, true) AS k FROM events
CREATE STREAM a AS SELECT ENTRIES(props, true) AS k FROM events;
-- refused: N005, MAP_ENTRIES(props)

-- name: SELECT JSON_RECORDS(payload) AS k FROM events
CREATE STREAM a AS SELECT JSON_RECORDS(payload) AS k FROM events;
-- refused: N005, MAP_FROM_ARRAYS(JSON_OBJECT_KEYS(payload)

-- name: SELECT JSON_KEYS(payload) AS k, JSON_ARRAY_LENGTH(payload) A
CREATE STREAM a AS SELECT JSON_KEYS(payload) AS k, JSON_ARRAY_LENGTH(payload) AS l FROM events;
-- same as
CREATE STREAM a AS SELECT JSON_OBJECT_KEYS(payload) AS k, JSON_ARRAY_LENGTH(payload) AS l FROM events;

-- name: SELECT IS_JSON_STRING(payload) AS k FROM events
CREATE STREAM a AS SELECT IS_JSON_STRING(payload) AS k FROM events;
-- refused: N005, (JSON_OBJECT_KEYS(payload) IS NOT NULL OR JSON_ARRAY_LENGTH(payload)

-- name: SELECT TO_JSON_STRING(address) AS k FROM events
CREATE STREAM a AS SELECT TO_JSON_STRING(address) AS k FROM events;
-- refused: N005, TO_JSON(address)

-- name: SELECT JSON_ARRAY_CONTAINS(payload, 'a') AS k FROM events
CREATE STREAM a AS SELECT JSON_ARRAY_CONTAINS(payload, 'a') AS k FROM events;
-- refused: N005, ARRAY_CONTAINS(FROM_JSON(payload, 'ARRAY<STRING>'), 'a')

-- name: SELECT JSON_ITEMS(payload) AS k FROM events
CREATE STREAM a AS SELECT JSON_ITEMS(payload) AS k FROM events;
-- refused: N005, FROM_JSON(payload, 'ARRAY<STRING>')

-- name: SELECT MAP_KEYS(props) AS k, MAP_VALUES(props) AS v, MAP_UNI
CREATE STREAM a AS SELECT MAP_KEYS(props) AS k, MAP_VALUES(props) AS v, MAP_UNION(props, props) AS u FROM events;
-- refused: N005, MAP_CONCAT(props, props)

-- name: SELECT ENCODE(kind, 'utf8', 'hex') AS a FROM events
CREATE STREAM a AS SELECT ENCODE(kind, 'utf8', 'hex') AS a FROM events;
-- refused: T005, HEX(ENCODE(kind, 'UTF-8'))

-- name: SELECT ENCODE(kind, 'utf8', 'base64') AS a FROM events
CREATE STREAM a AS SELECT ENCODE(kind, 'utf8', 'base64') AS a FROM events;
-- refused: T005, BASE64(ENCODE(kind, 'UTF-8'))

-- name: SELECT EXTRACTJSONFIELD(payload, '$.a[0].b') AS a FROM event
CREATE STREAM a AS SELECT EXTRACTJSONFIELD(payload, '$.a[0].b') AS a FROM events;
-- same as
CREATE STREAM a AS SELECT GET_JSON_OBJECT(payload, '$.a[0].b') AS a FROM events;

-- name: SELECT FROM_BYTES(TO_BYTES(kind, 'utf8'), 'base64') AS a FRO
CREATE STREAM a AS SELECT FROM_BYTES(TO_BYTES(kind, 'utf8'), 'base64') AS a FROM events;
-- refused: N005, BASE64(TO_BYTES(kind, 'utf8'))

-- name: SELECT INITCAP(kind) AS a, INSTR(kind, 'a') AS b, INSTR(kind
CREATE STREAM a AS SELECT INITCAP(kind) AS a, INSTR(kind, 'a') AS b, INSTR(kind, 'a', 2) AS c FROM events;
-- refused: T005, LOCATE('a', kind, 2)

-- name: SELECT MASK_KEEP_LEFT(kind, 2) AS a FROM events
CREATE STREAM a AS SELECT MASK_KEEP_LEFT(kind, 2) AS a FROM events;
-- refused: N005, LEFT(kind, 2) || MASK(SUBSTRING(kind, 2 + 1), 'X', 'x', 'n', '-')

-- name: SELECT MASK_LEFT(kind, 2) AS a, MASK_RIGHT(kind, 2), MASK_KE
CREATE STREAM a AS SELECT MASK_LEFT(kind, 2) AS a, MASK_RIGHT(kind, 2), MASK_KEEP_RIGHT(kind, 2) FROM events;
-- refused: N005, MASK(LEFT(kind, 2), 'X', 'x', 'n', '-') || SUBSTRING(kind, 2 + 1)

-- name: SELECT REGEXP_EXTRACT('a(b)', kind) AS a FROM events
CREATE STREAM a AS SELECT REGEXP_EXTRACT('a(b)', kind) AS a FROM events;
-- warned: T019, REGEXP_EXTRACT(kind, 'a(b)')
-- same as
CREATE STREAM a AS SELECT REGEXP_EXTRACT('a(b)', kind) AS a FROM events;

-- name: SELECT REGEXP_EXTRACT('a(b)', kind, 1) AS a FROM events
CREATE STREAM a AS SELECT REGEXP_EXTRACT('a(b)', kind, 1) AS a FROM events;
-- warned: T019, REGEXP_EXTRACT(kind, 'a(b)', 1)
-- same as
CREATE STREAM a AS SELECT REGEXP_EXTRACT('a(b)', kind, 1) AS a FROM events;

-- name: SELECT REGEXP_EXTRACT_ALL('a(b)', kind) AS a FROM events
CREATE STREAM a AS SELECT REGEXP_EXTRACT_ALL('a(b)', kind) AS a FROM events;
-- warned: T019, REGEXP_EXTRACT_ALL(kind, 'a(b)')
-- same as
CREATE STREAM a AS SELECT REGEXP_EXTRACT_ALL('a(b)', kind) AS a FROM events;

-- name: SELECT REGEXP_SPLIT_TO_ARRAY(kind, 'a') AS a FROM events
CREATE STREAM a AS SELECT REGEXP_SPLIT_TO_ARRAY(kind, 'a') AS a FROM events;
-- refused: N005, SPLIT(kind, 'a')

-- name: SELECT SPLIT(kind, '.') AS a FROM events
CREATE STREAM a AS SELECT SPLIT(kind, '.') AS a FROM events;
-- warned: T020, SPLIT(kind, '\.')
-- same as
CREATE STREAM a AS SELECT SPLIT(kind, '.') AS a FROM events;

-- name: SELECT SPLIT(kind, '|')[1] AS a FROM events
CREATE STREAM a AS SELECT SPLIT(kind, '|')[1] AS a FROM events;
-- warned: T020, TRY_ELEMENT_AT(SPLIT(kind, '|'), 1)
-- warned: T020, SPLIT(kind, '\|')
-- same as
CREATE STREAM a AS SELECT SPLIT(kind, '|')[1] AS a FROM events;

-- name: SELECT SPLIT_TO_MAP(payload, ',', ':=') AS a FROM events
CREATE STREAM a AS SELECT SPLIT_TO_MAP(payload, ',', ':=') AS a FROM events;
-- refused: N005, STR_TO_MAP(payload, ',', ':=')

-- name: SELECT TO_BYTES(kind, 'hex') AS a FROM events
CREATE STREAM a AS SELECT TO_BYTES(kind, 'hex') AS a FROM events;
-- refused: N005, UNHEX(kind)

-- name: SELECT BIGINT_FROM_BYTES(UNHEX('00')) AS a FROM events
CREATE STREAM a AS SELECT BIGINT_FROM_BYTES(UNHEX('00')) AS a FROM events;
-- refused: N005, CAST(CONV(HEX(UNHEX('00')), 16, -10) AS BIGINT)

-- name: SELECT CONVERT_TZ(ts, 'UTC', 'Europe/Paris') AS a FROM event
CREATE STREAM a AS SELECT CONVERT_TZ(ts, 'UTC', 'Europe/Paris') AS a FROM events;
-- refused: N005, FROM_UTC_TIMESTAMP(TO_UTC_TIMESTAMP(ts, 'UTC'), 'Europe/Paris')

-- name: SELECT DATETOSTRING(small, 'yyyy') AS a, STRINGTODATE(kind,
CREATE STREAM a AS SELECT DATETOSTRING(small, 'yyyy') AS a, STRINGTODATE(kind, 'yyyy') AS b FROM events;
-- same as
CREATE STREAM a AS SELECT DATE_FORMAT(DATE_FROM_UNIX_DATE(small), 'yyyy') AS a, UNIX_DATE(TO_DATE(kind, 'yyyy')) AS b FROM events;

-- name: SELECT UNIX_DATE() AS a FROM events
CREATE STREAM a AS SELECT UNIX_DATE() AS a FROM events;
-- same as
CREATE STREAM a AS SELECT UNIX_DATE(CURRENT_DATE()) AS a FROM events;

-- name: SELECT UNIX_TIMESTAMP() AS b FROM events
CREATE STREAM a AS SELECT UNIX_TIMESTAMP() AS b FROM events;
-- same as
CREATE STREAM a AS SELECT UNIX_SECONDS(CURRENT_TIMESTAMP()) AS b FROM events;

-- name: SELECT TIMESTAMPADD(DAYS, 1, ts) AS a, TIMESTAMPSUB(MINUTES,
CREATE STREAM a AS SELECT TIMESTAMPADD(DAYS, 1, ts) AS a, TIMESTAMPSUB(MINUTES, 5, ts) AS b FROM events;
-- same as
CREATE STREAM a AS SELECT (ts + INTERVAL '1' DAY) AS a, (ts - INTERVAL '5' MINUTE) AS b FROM events;

-- name: SELECT FORMAT_DATE(day, 'yyyy-MM-dd') AS a, FORMAT_TIME(TIME
CREATE STREAM a AS SELECT FORMAT_DATE(day, 'yyyy-MM-dd') AS a, FORMAT_TIME(TIME '10:00:00', 'HH') AS b FROM events;
-- refused: N005, CAST(TIME '10:00:00' AS STRING)

-- name: SELECT FORMAT_TIMESTAMP(ts, 'yyyy-MM-dd HH:mm:ss.SSS', 'UTC'
CREATE STREAM a AS SELECT FORMAT_TIMESTAMP(ts, 'yyyy-MM-dd HH:mm:ss.SSS', 'UTC') AS a FROM events;
-- refused: N005, DATE_FORMAT(FROM_UTC_TIMESTAMP(ts, 'UTC'), 'yyyy-MM-dd HH:mm:ss.SSS')

-- name: SELECT FORMAT_TIMESTAMP(ts, 'yyyy-MM-dd''T''HH:mm:ssX') AS a
CREATE STREAM a AS SELECT FORMAT_TIMESTAMP(ts, 'yyyy-MM-dd''T''HH:mm:ssX') AS a FROM events;
-- same as
CREATE STREAM a AS SELECT DATE_FORMAT(ts, 'yyyy-MM-dd''T''HH:mm:ssX') AS a FROM events;

-- name: SELECT PARSE_DATE(kind, 'yyyy-MM-dd') AS a, PARSE_TIME(kind,
CREATE STREAM a AS SELECT PARSE_DATE(kind, 'yyyy-MM-dd') AS a, PARSE_TIME(kind, 'HH:mm') AS b, PARSE_TIMESTAMP(kind, 'yyyy-MM-dd', 'UTC') AS c FROM events;
-- refused: N005, CAST(kind AS TIME)

-- name: SELECT PARSE_TIMESTAMP(kind, 'yyyy-MM-dd', 'UTC') AS c FROM
CREATE STREAM a AS SELECT PARSE_TIMESTAMP(kind, 'yyyy-MM-dd', 'UTC') AS c FROM events;
-- same as
CREATE STREAM a AS SELECT TO_UTC_TIMESTAMP(TO_TIMESTAMP(kind, 'yyyy-MM-dd'), 'UTC') AS c FROM events;

-- name: SELECT FROM_DAYS(5) AS a, FROM_UNIXTIME(epoch) AS b FROM eve
CREATE STREAM a AS SELECT FROM_DAYS(5) AS a, FROM_UNIXTIME(epoch) AS b FROM events;
-- same as
CREATE STREAM a AS SELECT DATE_FROM_UNIX_DATE(5) AS a, FROM_UNIXTIME(epoch) AS b FROM events;

-- name: SELECT STRINGTOTIMESTAMP(kind, 'yyyy', 'UTC') AS a, TIMESTAM
CREATE STREAM a AS SELECT STRINGTOTIMESTAMP(kind, 'yyyy', 'UTC') AS a, TIMESTAMPTOSTRING(epoch, 'yyyy', 'UTC') AS b FROM events;
-- refused: N005, DATE_FORMAT(FROM_UTC_TIMESTAMP(TIMESTAMP_MILLIS(epoch), 'UTC')

-- name: SELECT TIMESTAMPTOSTRING(ROWTIME, 'yyyy-MM-dd') AS b FROM ev
CREATE STREAM a AS SELECT TIMESTAMPTOSTRING(ROWTIME, 'yyyy-MM-dd') AS b FROM events;
-- same as
CREATE STREAM a AS SELECT DATE_FORMAT(ROWTIME, 'yyyy-MM-dd') AS b FROM events;

-- name: SELECT TIMESTAMPTOSTRING(ROWTIME, 'yyyy-MM-dd', 'Europe/Pari
CREATE STREAM a AS SELECT TIMESTAMPTOSTRING(ROWTIME, 'yyyy-MM-dd', 'Europe/Paris') AS b FROM events;
-- refused: N005, DATE_FORMAT(FROM_UTC_TIMESTAMP(ROWTIME, 'Europe/Paris'), 'yyyy-MM-dd')

-- name: SELECT URL_DECODE_PARAM(kind) AS a, URL_ENCODE_PARAM(kind) A
CREATE STREAM a AS SELECT URL_DECODE_PARAM(kind) AS a, URL_ENCODE_PARAM(kind) AS b, URL_EXTRACT_FRAGMENT(kind) AS c FROM events;
-- refused: N005, PARSE_URL(kind, 'REF')

-- name: SELECT URL_EXTRACT_PORT(kind) AS a FROM events
CREATE STREAM a AS SELECT URL_EXTRACT_PORT(kind) AS a FROM events;
-- refused: N005, TRY_CAST(REGEXP_EXTRACT(kind, '^[a-zA-Z]+://[^/]*:([0-9]+)', 1) AS

-- name: SELECT URL_EXTRACT_HOST(kind) AS a, URL_EXTRACT_PROTOCOL(kin
CREATE STREAM a AS SELECT URL_EXTRACT_HOST(kind) AS a, URL_EXTRACT_PROTOCOL(kind) AS b FROM events;
-- same as
CREATE STREAM a AS SELECT PARSE_URL(kind, 'HOST') AS a, PARSE_URL(kind, 'PROTOCOL') AS b FROM events;

-- name: SELECT kind + 'x' + payload AS a FROM events
CREATE STREAM a AS SELECT kind + 'x' + payload AS a FROM events;
-- refused: T002, kind || 'x'

-- name: SELECT CAST(id AS VARCHAR) AS a, CAST(score AS INT) AS b, CA
CREATE STREAM a AS SELECT CAST(id AS VARCHAR) AS a, CAST(score AS INT) AS b, CAST(kind AS DECIMAL(4, 2)) AS c FROM events;
-- same as
CREATE STREAM a AS SELECT CAST(id AS STRING) AS a, CAST(score AS INT) AS b, CAST(kind AS DECIMAL(4, 2)) AS c FROM events;

-- name: SELECT props['a'] AS a, tags[1] AS b, tags[-1] AS c FROM eve
CREATE STREAM a AS SELECT props['a'] AS a, tags[1] AS b, tags[-1] AS c FROM events;
-- warned: T020, TRY_ELEMENT_AT(tags, 1)
-- warned: T020, TRY_ELEMENT_AT(tags, -1)
-- same as
CREATE STREAM a AS SELECT props['a'] AS a, tags[1] AS b, tags[-1] AS c FROM events;

-- name: SELECT TRANSFORM(props, (k, v) => k, (k, v) => v) AS a FROM
CREATE STREAM a AS SELECT TRANSFORM(props, (k, v) => k, (k, v) => v) AS a FROM events;
-- refused: T005, TRANSFORM_KEYS(TRANSFORM_VALUES(props, (k, v) => v), (k, v) => k)

-- name: SELECT FILTER(props, (k, v) => v = 'a') AS a FROM events
CREATE STREAM a AS SELECT FILTER(props, (k, v) => v = 'a') AS a FROM events;
-- refused: T006, MAP_FILTER(props, (k, v) => v = 'a')

-- name: SELECT kind, AVG(score), COUNT(*), COUNT(id), COUNT_DISTINCT
CREATE TABLE t AS SELECT kind, AVG(score), COUNT(*), COUNT(id), COUNT_DISTINCT(id), MAX(id), MIN(id), SUM(id), STDDEV_SAMP(score) FROM events GROUP BY kind;
-- same as
CREATE TABLE t AS SELECT kind, AVG(score), COUNT(*), COUNT(id), COUNT(DISTINCT id), MAX(id), MIN(id), SUM(id), STDDEV_SAMP(score) FROM events GROUP BY kind;

-- name: SELECT kind, EARLIEST_BY_OFFSET(id) FROM events GROUP BY kin
CREATE TABLE t AS SELECT kind, EARLIEST_BY_OFFSET(id) FROM events GROUP BY kind;
-- refused: N005, MIN_BY(id, ROWTIME) FILTER (WHERE id IS NOT NULL)

-- name: SELECT kind, LATEST_BY_OFFSET(id, 3, true) FROM events GROUP
CREATE TABLE t AS SELECT kind, LATEST_BY_OFFSET(id, 3, true) FROM events GROUP BY kind;
-- refused: N005, SLICE(COLLECT_LIST(id ORDER BY ROWTIME DESC), 1, 3)

-- name: SELECT kind, CORRELATION(id, score) FROM events GROUP BY kin
CREATE TABLE t AS SELECT kind, CORRELATION(id, score) FROM events GROUP BY kind;
-- refused: N005, CORR(id, score)

-- name: SELECT kind, ATTR(id), COLLECT_SET(id) FROM events GROUP BY
CREATE TABLE t AS SELECT kind, ATTR(id), COLLECT_SET(id) FROM events GROUP BY kind;
-- refused: N005, CASE WHEN MIN(id) = MAX(id) THEN MIN(id) END

-- name: SELECT kind, SUM(ARRAY_LENGTH(tags)) FROM events GROUP BY ki
CREATE TABLE t AS SELECT kind, SUM(ARRAY_LENGTH(tags)) FROM events GROUP BY kind HAVING COUNT(*) > 1;
-- same as
CREATE TABLE t AS SELECT kind, SUM(ARRAY_SIZE(tags)) FROM events GROUP BY kind HAVING COUNT(*) > 1;

-- name: SELECT * FROM orders WHERE product LIKE '%a%' AND amount BET
CREATE STREAM a AS SELECT * FROM orders WHERE product LIKE '%a%' AND amount BETWEEN 1 AND 2 AND currency IN ('a','b') AND NOT quantity IS NULL;
-- same as
CREATE STREAM a AS SELECT * FROM orders WHERE product LIKE '%a%' AND amount BETWEEN 1 AND 2 AND currency IN ('a', 'b') AND quantity IS NOT NULL;

-- name: SELECT * FROM orders WHERE product LIKE 'a!%' ESCAPE '!'
CREATE STREAM a AS SELECT * FROM orders WHERE product LIKE 'a!%' ESCAPE '!';
-- same as
CREATE STREAM a AS SELECT * FROM orders WHERE product LIKE 'a\%';

-- name: SELECT *, ROWTIME, ROWPARTITION, ROWOFFSET FROM orders
CREATE STREAM a AS SELECT *, ROWTIME, ROWPARTITION, ROWOFFSET FROM orders;
-- refused: N001, declare it: place INT METADATA FROM 'partition' VIRTUAL

-- name: SELECT o.*, s.carrier FROM orders o JOIN shipments s WITHIN
CREATE STREAM a AS SELECT o.*, s.carrier FROM orders o JOIN shipments s WITHIN 1 HOUR ON o.order_id = s.order_id;
-- same as
CREATE STREAM a AS SELECT o.*, s.carrier FROM orders AS o INNER JOIN shipments AS s WITHIN INTERVAL '1' HOUR ON o.order_id = s.order_id;

-- name: SELECT * FROM orders o JOIN shipments s WITHIN 1 HOUR ON o.o
CREATE STREAM a AS SELECT * FROM orders o JOIN shipments s WITHIN 1 HOUR ON o.order_id = s.order_id;
-- refused: K010, o.*, s.* EXCEPT (order_id), or JOIN … USING (order_id)

-- name: SELECT * FROM orders o JOIN shipments s WITHIN 1 HOUR ON o.o 2
CREATE STREAM a AS SELECT * FROM orders o JOIN shipments s WITHIN 1 HOUR ON o.order_id = s.order_id PARTITION BY o.user_id;
-- refused: K010, o.*, s.* EXCEPT (order_id), or JOIN … USING (order_id)

-- name: SELECT o.order_id, u.name FROM orders o JOIN users u ON o.us
CREATE STREAM a AS SELECT o.order_id, u.name FROM orders o JOIN users u ON o.user_id = u.user_id;
-- same as
CREATE STREAM a AS SELECT o.order_id, u.name FROM orders AS o INNER JOIN users AS u ON o.user_id = u.user_id;

-- name: SELECT o.order_id, u.name FROM orders o JOIN users u ON o.us 2
CREATE STREAM a AS SELECT o.order_id, u.name FROM orders o JOIN users u ON o.user_id + 1 = u.user_id;
-- same as
CREATE STREAM a AS SELECT o.order_id, u.name FROM orders AS o INNER JOIN users AS u ON o.user_id + 1 = u.user_id;

-- name: SELECT o.order_id, u.name FROM orders o RIGHT JOIN users u O
CREATE STREAM a AS SELECT o.order_id, u.name FROM orders o RIGHT JOIN users u ON o.user_id = u.user_id;
-- refused: J011, allowed here: INNER, LEFT, LEFT SEMI, LEFT ANTI

-- name: SELECT o.order_id, u.name FROM orders o FULL OUTER JOIN user
CREATE STREAM a AS SELECT o.order_id, u.name FROM orders o FULL OUTER JOIN users u ON o.user_id = u.user_id;
-- refused: J011, allowed here: INNER, LEFT, LEFT SEMI, LEFT ANTI

-- name: SELECT o.order_id, s.carrier FROM orders o JOIN shipments s
CREATE STREAM a AS SELECT o.order_id, s.carrier FROM orders o JOIN shipments s WITHIN (0 SECONDS, 1 HOUR) ON o.order_id = s.order_id;
-- same as
CREATE STREAM a AS SELECT o.order_id, s.carrier FROM orders AS o INNER JOIN shipments AS s WITHIN (INTERVAL '0' SECOND BEFORE, INTERVAL '1' HOUR AFTER) ON o.order_id = s.order_id;

-- name: SELECT o.order_id, s.carrier FROM orders o RIGHT OUTER JOIN
CREATE STREAM a AS SELECT o.order_id, s.carrier FROM orders o RIGHT OUTER JOIN shipments s WITHIN 1 HOUR GRACE PERIOD 0 SECONDS ON o.order_id = s.order_id;
-- same as
CREATE STREAM a AS SELECT o.order_id, s.carrier FROM orders AS o RIGHT JOIN shipments AS s WITHIN INTERVAL '1' HOUR GRACE PERIOD INTERVAL '0' SECOND ON o.order_id = s.order_id;

-- name: SELECT ROWKEY AS k, o.order_id FROM orders o FULL OUTER JOIN
CREATE STREAM a AS SELECT ROWKEY AS k, o.order_id FROM orders o FULL OUTER JOIN shipments s WITHIN 1 HOUR ON o.order_id = s.order_id;
-- refused: N001, name the key column; a FULL JOIN has COALESCE of both

-- name: SELECT u.user_id, u.name, a.balance FROM users u FULL OUTER
CREATE TABLE a AS SELECT u.user_id, u.name, a.balance FROM users u FULL OUTER JOIN accounts a ON u.user_id = a.user_id;
-- same as
CREATE TABLE a AS SELECT u.user_id, u.name, a.balance FROM users AS u FULL JOIN accounts AS a ON u.user_id = a.user_id;

-- name: SELECT a.user_id, a.balance, u.name FROM accounts a JOIN use
CREATE TABLE a AS SELECT a.user_id, a.balance, u.name FROM accounts a JOIN users u ON a.manager = u.user_id;
-- same as
CREATE TABLE a AS SELECT a.user_id, a.balance, u.name FROM accounts AS a INNER JOIN users AS u ON a.manager = u.user_id;

-- name: SELECT user_id, COUNT(*) FROM orders WINDOW TUMBLING (SIZE 5
CREATE TABLE a AS SELECT user_id, COUNT(*) FROM orders WINDOW TUMBLING (SIZE 5 MINUTES, GRACE PERIOD 0 SECONDS) GROUP BY user_id EMIT FINAL;
-- same as
CREATE TABLE a AS SELECT user_id, COUNT(*) FROM orders GROUP BY user_id, TUMBLE(ROWTIME, INTERVAL '5' MINUTE) EMIT FINAL GRACE PERIOD INTERVAL '0' SECOND;

-- name: SELECT user_id, WINDOWSTART, WINDOWEND, COUNT(*) FROM orders
CREATE TABLE a AS SELECT user_id, WINDOWSTART, WINDOWEND, COUNT(*) FROM orders WINDOW TUMBLING (SIZE 5 MINUTES) GROUP BY user_id;
-- same as
CREATE TABLE a AS SELECT user_id, WINDOWSTART, WINDOWEND, COUNT(*) FROM orders GROUP BY user_id, TUMBLE(ROWTIME, INTERVAL '5' MINUTE);

-- name: SELECT user_id, TIMESTAMPTOSTRING(WINDOWSTART, 'HH:mm') AS s
CREATE TABLE a AS SELECT user_id, TIMESTAMPTOSTRING(WINDOWSTART, 'HH:mm') AS s, COUNT(*) FROM orders WINDOW HOPPING (SIZE 5 MINUTES, ADVANCE BY 1 MINUTE) GROUP BY user_id;
-- same as
CREATE TABLE a AS SELECT user_id, DATE_FORMAT(TIMESTAMP_MILLIS(WINDOWSTART), 'HH:mm') AS s, COUNT(*) FROM orders GROUP BY user_id, HOP(ROWTIME, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE);

-- name: SELECT * FROM users EMIT CHANGES LIMIT 3
SELECT * FROM users EMIT CHANGES LIMIT 3;
-- refused: S009, leave it out here; penstock query and penstock shell take it over tables

-- name: SELECT * FROM users WHERE WINDOWSTART > 5
SELECT * FROM users WHERE WINDOWSTART > 5;
-- refused: N001, a GROUP BY with a window has it, and a table of such groups

-- name: SELECT user_id, WINDOWSTART FROM users WHERE user_id = 1 AND
SELECT user_id, WINDOWSTART FROM users WHERE user_id = 1 AND WINDOWSTART >= '2020-01-01T00:00:00';
-- refused: N001, a GROUP BY with a window has it, and a table of such groups

-- name: SELECT * FROM orders LIMIT 5
SELECT * FROM orders LIMIT 5;
-- refused: S009, leave it out here; penstock query and penstock shell take it over tables

-- name: SELECT ${x} FROM events
CREATE STREAM a AS SELECT ${x} FROM events;
-- refused: S006, a script has no parameters: write the value

-- name: SELECT EXPLODE(JSON_RECORDS(payload)) AS x FROM events
CREATE STREAM a AS SELECT EXPLODE(JSON_RECORDS(payload)) AS x FROM events;
-- refused: N005, MAP_FROM_ARRAYS(JSON_OBJECT_KEYS(payload)

-- name: SELECT id FROM events e INNER JOIN users AS u ON e.id = u.us
CREATE STREAM a AS SELECT id FROM events e INNER JOIN users AS u ON e.id = u.user_id EMIT CHANGES;
-- same as
CREATE STREAM a AS SELECT id FROM events AS e INNER JOIN users AS u ON e.id = u.user_id EMIT CHANGES;

-- name: SELECT TIMESTAMPTOSTRING(ROWTIME, 'yyyy-MM-dd') AS day FROM
CREATE STREAM a AS SELECT TIMESTAMPTOSTRING(ROWTIME, 'yyyy-MM-dd') AS day FROM events EMIT CHANGES;
-- same as
CREATE STREAM a AS SELECT DATE_FORMAT(ROWTIME, 'yyyy-MM-dd') AS day FROM events EMIT CHANGES;

-- name: SELECT MASK(kind) AS a FROM events EMIT CHANGES
CREATE STREAM a AS SELECT MASK(kind) AS a FROM events EMIT CHANGES;
-- warned: T020, MASK(kind, 'X', 'x', 'n', '-')
-- same as
CREATE STREAM a AS SELECT MASK(kind) AS a FROM events EMIT CHANGES;

-- name: SELECT FROM_UNIXTIME(epoch) AS a FROM events EMIT CHANGES
CREATE STREAM a AS SELECT FROM_UNIXTIME(epoch) AS a FROM events EMIT CHANGES;
-- warned: T020, TIMESTAMP_MILLIS(epoch)
-- same as
CREATE STREAM a AS SELECT FROM_UNIXTIME(epoch) AS a FROM events EMIT CHANGES;

-- name: SELECT UNIX_TIMESTAMP(ts) AS a FROM events EMIT CHANGES
CREATE STREAM a AS SELECT UNIX_TIMESTAMP(ts) AS a FROM events EMIT CHANGES;
-- warned: T020, UNIX_MILLIS(ts)
-- same as
CREATE STREAM a AS SELECT UNIX_TIMESTAMP(ts) AS a FROM events EMIT CHANGES;

-- name: SELECT CONCAT(kind, '-', payload) AS a FROM events EMIT CHAN
CREATE STREAM a AS SELECT CONCAT(kind, '-', payload) AS a FROM events EMIT CHANGES;
-- warned: T020, CONCAT_WS('', kind, '-', payload)
-- same as
CREATE STREAM a AS SELECT CONCAT(kind, '-', payload) AS a FROM events EMIT CHANGES;

-- name: SELECT tags[1] AS a, tags[-1] AS b FROM events EMIT CHANGES
CREATE STREAM a AS SELECT tags[1] AS a, tags[-1] AS b FROM events EMIT CHANGES;
-- warned: T020, TRY_ELEMENT_AT(tags, 1)
-- warned: T020, TRY_ELEMENT_AT(tags, -1)
-- same as
CREATE STREAM a AS SELECT tags[1] AS a, tags[-1] AS b FROM events EMIT CHANGES;

-- name: SELECT SPLIT(kind, '.')[1] AS a FROM events EMIT CHANGES
CREATE STREAM a AS SELECT SPLIT(kind, '.')[1] AS a FROM events EMIT CHANGES;
-- warned: T020, TRY_ELEMENT_AT(SPLIT(kind, '.'), 1)
-- warned: T020, SPLIT(kind, '\.')
-- same as
CREATE STREAM a AS SELECT SPLIT(kind, '.')[1] AS a FROM events EMIT CHANGES;

-- name: SELECT id / 2 AS a FROM events EMIT CHANGES
CREATE STREAM a AS SELECT id / 2 AS a FROM events EMIT CHANGES;
-- warned: T020, id DIV 2
-- same as
CREATE STREAM a AS SELECT id / 2 AS a FROM events EMIT CHANGES;

-- name: SELECT UNIX_DATE() AS a FROM events EMIT CHANGES
CREATE STREAM a AS SELECT UNIX_DATE() AS a FROM events EMIT CHANGES;
-- same as
CREATE STREAM a AS SELECT UNIX_DATE(CURRENT_DATE()) AS a FROM events EMIT CHANGES;

-- name: SELECT kind, LATEST_BY_OFFSET(payload) AS p FROM events GROU
CREATE TABLE a AS SELECT kind, LATEST_BY_OFFSET(payload) AS p FROM events GROUP BY kind EMIT CHANGES;
-- refused: N005, MAX_BY(payload, ROWTIME) FILTER (WHERE payload IS NOT NULL)

-- name: SELECT kind, LATEST_BY_OFFSET(payload, false) AS p FROM even
CREATE TABLE a AS SELECT kind, LATEST_BY_OFFSET(payload, false) AS p FROM events GROUP BY kind EMIT CHANGES;
-- refused: N005, MAX_BY(payload, ROWTIME)

-- name: SELECT kind, EARLIEST_BY_OFFSET(payload, 5) AS p FROM events
CREATE TABLE a AS SELECT kind, EARLIEST_BY_OFFSET(payload, 5) AS p FROM events GROUP BY kind EMIT CHANGES;
-- refused: N005, SLICE(COLLECT_LIST(payload ORDER BY ROWTIME), 1, 5)

-- name: SELECT kind, COUNT(*) AS n, SUM(score) AS s FROM events WIND
CREATE TABLE a AS SELECT kind, COUNT(*) AS n, SUM(score) AS s FROM events WINDOW HOPPING (SIZE 1 HOUR, ADVANCE BY 15 MINUTES, RETENTION 1 DAYS, GRACE PERIOD 10 MINUTES) GROUP BY kind EMIT FINAL;
-- same as
CREATE TABLE a AS SELECT kind, COUNT(*) AS n, SUM(score) AS s FROM events GROUP BY kind, HOP(ROWTIME, INTERVAL '15' MINUTE, INTERVAL '1' HOUR) EMIT FINAL GRACE PERIOD INTERVAL '10' MINUTE RETENTION INTERVAL '1' DAY;

-- name: SELECT kind, WINDOWSTART AS ws, COUNT(*) AS n FROM events WI
CREATE TABLE a AS SELECT kind, WINDOWSTART AS ws, COUNT(*) AS n FROM events WINDOW SESSION (30 SECONDS, GRACE PERIOD 0 SECONDS) GROUP BY kind EMIT CHANGES;
-- same as
CREATE TABLE a AS SELECT kind, WINDOWSTART AS ws, COUNT(*) AS n FROM events GROUP BY kind, SESSION(ROWTIME, INTERVAL '30' SECOND) EMIT CHANGES GRACE PERIOD INTERVAL '0' SECOND;

-- name: SELECT o.order_id AS id, s.carrier AS carrier FROM orders o
CREATE STREAM a AS SELECT o.order_id AS id, s.carrier AS carrier FROM orders o LEFT JOIN shipments s WITHIN 30 SECONDS ON s.order_id = o.order_id EMIT CHANGES;
-- same as
CREATE STREAM a AS SELECT o.order_id AS id, s.carrier AS carrier FROM orders AS o LEFT JOIN shipments AS s WITHIN INTERVAL '30' SECOND ON s.order_id = o.order_id EMIT CHANGES;

-- name: SELECT PARSE_TIMESTAMP(kind, 'yyyy-MM-dd', 'Europe/Paris') A
CREATE STREAM a AS SELECT PARSE_TIMESTAMP(kind, 'yyyy-MM-dd', 'Europe/Paris') AS a FROM events EMIT CHANGES;
-- same as
CREATE STREAM a AS SELECT TO_UTC_TIMESTAMP(TO_TIMESTAMP(kind, 'yyyy-MM-dd'), 'Europe/Paris') AS a FROM events EMIT CHANGES;
