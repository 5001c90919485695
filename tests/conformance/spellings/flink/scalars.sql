-- Functions and operators of Flink SQL.

-- name: CHAR_LENGTH and CHARACTER_LENGTH
CREATE VIEW v AS SELECT CHAR_LENGTH(kind) AS a, CHARACTER_LENGTH(kind) AS b FROM events;
-- same as
CREATE VIEW v AS SELECT CHAR_LENGTH(kind) AS a, CHARACTER_LENGTH(kind) AS b FROM events;

-- name: TRIM in its long form
CREATE VIEW v AS SELECT TRIM(BOTH FROM kind) AS a, TRIM(LEADING FROM kind) AS b, TRIM(TRAILING FROM kind) AS c FROM events;
-- same as
CREATE VIEW v AS SELECT BTRIM(kind) AS a, LTRIM(kind) AS b, RTRIM(kind) AS c FROM events;

-- name: SUBSTRING FROM FOR
CREATE VIEW v AS SELECT SUBSTRING(kind FROM 1 FOR 3) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT SUBSTRING(kind, 1, 3) AS a FROM events;

-- name: FLOOR to a unit
CREATE VIEW v AS SELECT FLOOR(ts TO HOUR) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT DATE_TRUNC('HOUR', ts) AS a FROM events;

-- name: EXTRACT
CREATE VIEW v AS SELECT EXTRACT(DAY FROM ts) AS a, EXTRACT(QUARTER FROM ts) AS b FROM events;
-- same as
CREATE VIEW v AS SELECT DATE_PART('DAY', ts) AS a, DATE_PART('QUARTER', ts) AS b FROM events;

-- name: YEAR, MONTH, DAYOFMONTH and HOUR
CREATE VIEW v AS SELECT YEAR(day) AS a, MONTH(day) AS b, DAYOFMONTH(day) AS c, HOUR(ts) AS d FROM events;
-- same as
CREATE VIEW v AS SELECT YEAR(day) AS a, MONTH(day) AS b, DAYOFMONTH(day) AS c, HOUR(ts) AS d FROM events;

-- name: DATE_FORMAT
CREATE VIEW v AS SELECT DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm') AS a FROM events;
-- same as
CREATE VIEW v AS SELECT DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm') AS a FROM events;

-- name: TO_TIMESTAMP
CREATE VIEW v AS SELECT TO_TIMESTAMP(kind, 'yyyy-MM-dd HH:mm:ss') AS a FROM events;
-- same as
CREATE VIEW v AS SELECT TO_TIMESTAMP(kind, 'yyyy-MM-dd HH:mm:ss') AS a FROM events;

-- name: TO_TIMESTAMP_LTZ of milliseconds
CREATE VIEW v AS SELECT TO_TIMESTAMP_LTZ(epoch, 3) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT TIMESTAMP_MILLIS(epoch) AS a FROM events;

-- name: TO_TIMESTAMP_LTZ of seconds
CREATE VIEW v AS SELECT TO_TIMESTAMP_LTZ(epoch, 0) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT TIMESTAMP_SECONDS(epoch) AS a FROM events;

-- name: FROM_UNIXTIME
CREATE VIEW v AS SELECT FROM_UNIXTIME(epoch) AS a, FROM_UNIXTIME(epoch, 'yyyy-MM-dd') AS b FROM events;
-- same as
CREATE VIEW v AS SELECT FROM_UNIXTIME(epoch) AS a, FROM_UNIXTIME(epoch, 'yyyy-MM-dd') AS b FROM events;

-- name: UNIX_TIMESTAMP of a text
CREATE VIEW v AS SELECT UNIX_TIMESTAMP(kind, 'yyyy-MM-dd') AS a FROM events;
-- same as
CREATE VIEW v AS SELECT UNIX_TIMESTAMP(kind, 'yyyy-MM-dd') AS a FROM events;

-- name: TIMESTAMPADD
CREATE VIEW v AS SELECT TIMESTAMPADD(MINUTE, 5, ts) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT ts + INTERVAL '5' MINUTE AS a FROM events;

-- name: TIMESTAMPDIFF
-- Whole units between two times, without the rest.
CREATE VIEW v AS SELECT TIMESTAMPDIFF(SECOND, ts, TIMESTAMP '2024-01-01') AS a FROM events;
-- same as
CREATE VIEW v AS SELECT TIMESTAMPDIFF(SECOND, ts, TIMESTAMP '2024-01-01') AS a FROM events;

-- name: CONVERT_TZ
CREATE VIEW v AS SELECT CONVERT_TZ(kind, 'UTC', 'Europe/Berlin') AS a FROM events;
-- refused: N005

-- name: LOCALTIMESTAMP
CREATE VIEW v AS SELECT LOCALTIMESTAMP AS a FROM events;
-- same as
CREATE VIEW v AS SELECT CURRENT_TIMESTAMP() AS a FROM events;

-- name: PROCTIME in the SELECT list
CREATE VIEW v AS SELECT id, PROCTIME() AS processed FROM events;
-- same as
CREATE VIEW v AS SELECT id, CURRENT_TIMESTAMP() AS processed FROM events;

-- name: current times
CREATE VIEW v AS SELECT CURRENT_TIMESTAMP AS a, CURRENT_DATE AS b FROM events;
-- same as
CREATE VIEW v AS SELECT CURRENT_TIMESTAMP() AS a, CURRENT_DATE() AS b FROM events;

-- name: intervals
CREATE VIEW v AS
SELECT ts + INTERVAL '10' SECOND AS a, ts + INTERVAL '1:30' HOUR TO MINUTE AS b, ts - INTERVAL '2' DAYS AS c FROM events;
-- same as
CREATE VIEW v AS
SELECT ts + INTERVAL '10' SECOND AS a, ts + INTERVAL '90' MINUTE AS b, ts - INTERVAL '2' DAY AS c FROM events;

-- name: COALESCE, IFNULL and NULLIF
CREATE VIEW v AS SELECT COALESCE(kind, 'a') AS a, IFNULL(kind, 'a') AS b, NULLIF(kind, 'a') AS c FROM events;
-- same as
CREATE VIEW v AS SELECT COALESCE(kind, 'a') AS a, IFNULL(kind, 'a') AS b, NULLIF(kind, 'a') AS c FROM events;

-- name: IF
CREATE VIEW v AS SELECT IF(id > 3, 'many', 'few') AS a FROM events;
-- same as
CREATE VIEW v AS SELECT IF(id > 3, 'many', 'few') AS a FROM events;

-- name: CONCAT and CONCAT_WS
CREATE VIEW v AS SELECT CONCAT(kind, '-', payload) AS a, CONCAT_WS(',', kind, payload) AS b FROM events;
-- same as
CREATE VIEW v AS SELECT CONCAT(kind, '-', payload) AS a, CONCAT_WS(',', kind, payload) AS b FROM events;

-- name: REGEXP_EXTRACT and REGEXP_REPLACE
CREATE VIEW v AS
SELECT REGEXP_EXTRACT(kind, '([a-z]+)', 1) AS a, REGEXP_REPLACE(kind, '[0-9]', '#') AS b, REGEXP(kind, '^a') AS c FROM events;
-- same as
CREATE VIEW v AS
SELECT REGEXP_EXTRACT(kind, '([a-z]+)', 1) AS a, REGEXP_REPLACE(kind, '[0-9]', '#') AS b, REGEXP_LIKE(kind, '^a') AS c FROM events;

-- name: SPLIT_INDEX
-- Flink counts the parts from 0.
CREATE VIEW v AS SELECT SPLIT_INDEX(kind, ',', 0) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT SPLIT_INDEX(kind, ',', 0) AS a FROM events;

-- name: JSON_VALUE
CREATE VIEW v AS SELECT JSON_VALUE(payload, '$.user.name') AS a FROM events;
-- refused: N005

-- name: JSON_VALUE with RETURNING
CREATE VIEW v AS SELECT JSON_VALUE(payload, '$.age' RETURNING INTEGER) AS a FROM events;
-- refused: S001

-- name: JSON_EXISTS
CREATE VIEW v AS SELECT JSON_EXISTS(payload, '$.a') AS a FROM events;
-- refused: N005

-- name: ARRAY, MAP and ROW
CREATE VIEW v AS SELECT ARRAY['a', kind] AS a, MAP['k', id] AS m, ROW(id, kind) AS r FROM events;
-- same as
CREATE VIEW v AS SELECT ARRAY('a', kind) AS a, MAP('k', id) AS m, NAMED_STRUCT('id', id, 'kind', kind) AS r FROM events;

-- name: an element of an array
-- Flink counts from 1, Penstock and Spark from 0.
CREATE VIEW v AS SELECT tags[1] AS a FROM events;
-- same as
CREATE VIEW v AS SELECT tags[1] AS a FROM events;

-- name: CARDINALITY and ELEMENT
CREATE VIEW v AS SELECT CARDINALITY(tags) AS a, CARDINALITY(props) AS b FROM events;
-- same as
CREATE VIEW v AS SELECT CARDINALITY(tags) AS a, CARDINALITY(props) AS b FROM events;

-- name: a field of a row
CREATE VIEW v AS SELECT address.city AS a, events.address.zip AS b FROM events;
-- same as
CREATE VIEW v AS SELECT address.city AS a, address.zip AS b FROM events;

-- name: SIMILAR TO
CREATE VIEW v AS SELECT kind SIMILAR TO 'a%' AS a FROM events;
-- same as
CREATE VIEW v AS SELECT kind RLIKE '(?s)^(?:a.*)(?!.)' AS a FROM events;

-- name: IS TRUE and IS UNKNOWN
CREATE VIEW v AS SELECT (id > 3) IS TRUE AS a, (id > 3) IS UNKNOWN AS b FROM events;
-- same as
CREATE VIEW v AS SELECT (id > 3) IS TRUE AS a, (id > 3) IS NULL AS b FROM events;

-- name: IS NOT DISTINCT FROM
CREATE VIEW v AS SELECT kind IS NOT DISTINCT FROM payload AS a FROM events;
-- same as
CREATE VIEW v AS SELECT kind <=> payload AS a FROM events;

-- name: BETWEEN ASYMMETRIC
CREATE VIEW v AS SELECT id BETWEEN ASYMMETRIC 1 AND 10 AS a FROM events;
-- same as
CREATE VIEW v AS SELECT id BETWEEN 1 AND 10 AS a FROM events;

-- name: TRUNCATE
CREATE VIEW v AS SELECT TRUNCATE(score, 2) AS a FROM events;
-- refused: N005

-- name: LOG, LN, POWER and MOD
CREATE VIEW v AS SELECT LOG10(score) AS a, LN(score) AS b, POWER(score, 2) AS c, MOD(id, 3) AS d, LOG(2, score) AS e FROM events;
-- same as
CREATE VIEW v AS SELECT LOG10(score) AS a, LN(score) AS b, POWER(score, 2) AS c, MOD(id, 3) AS d, LOG(2, score) AS e FROM events;

-- name: MD5 and SHA256
CREATE VIEW v AS SELECT MD5(kind) AS a, SHA256(kind) AS b FROM events;
-- same as
CREATE VIEW v AS SELECT MD5(kind) AS a, SHA2(kind, 256) AS b FROM events;

-- name: UUID and RAND
CREATE VIEW v AS SELECT UUID() AS a, RAND() AS b FROM events;
-- refused: N005

-- name: a unicode string
CREATE VIEW v AS SELECT kind = U&'\00e9' AS a FROM events;
-- refused: N001

-- name: an aggregate with DISTINCT and FILTER
CREATE VIEW v AS SELECT kind, COUNT(DISTINCT id) AS a, SUM(id) FILTER (WHERE id > 3) AS b FROM events GROUP BY kind;
-- same as
CREATE VIEW v AS SELECT kind, COUNT(DISTINCT id) AS a, SUM(id) FILTER (WHERE id > 3) AS b FROM events GROUP BY kind;

-- name: STDDEV_POP and VAR_SAMP
CREATE VIEW v AS SELECT kind, STDDEV_POP(score) AS a, VAR_SAMP(score) AS b FROM events GROUP BY kind;
-- same as
CREATE VIEW v AS SELECT kind, STDDEV_POP(score) AS a, VAR_SAMP(score) AS b FROM events GROUP BY kind;

-- name: a cast to a row
CREATE VIEW v AS SELECT CAST(address AS ROW<city STRING, zip STRING>) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT CAST(address AS STRUCT<city: STRING, zip: STRING>) AS a FROM events;

-- name: a date and a timestamp
CREATE VIEW v AS SELECT day > DATE '2024-01-01' AS a, ts < TIMESTAMP '2024-01-01 00:00:00.123' AS b FROM events;
-- same as
CREATE VIEW v AS SELECT day > DATE '2024-01-01' AS a, ts < TIMESTAMP '2024-01-01 00:00:00.123' AS b FROM events;

-- name: REGEXP_EXTRACT without a group
CREATE TABLE a AS SELECT kind, COUNT(REGEXP_EXTRACT(kind, 'a(b)')) AS n FROM events GROUP BY kind;
-- warned: T020, REGEXP_EXTRACT(kind, 'a(b)', 0)
-- same as
CREATE TABLE a AS SELECT kind, COUNT(REGEXP_EXTRACT(kind, 'a(b)')) AS n FROM events GROUP BY kind;

-- name: REGEXP_EXTRACT whose first group is the whole
CREATE STREAM a AS SELECT STREAM REGEXP_EXTRACT(kind, '(a(b))') AS x FROM events;
-- same as
CREATE STREAM a AS SELECT STREAM REGEXP_EXTRACT(kind, '(a(b))') AS x FROM events;

-- name: REGEXP_EXTRACT of a pattern without a group
CREATE STREAM a AS SELECT STREAM REGEXP_EXTRACT(kind, 'ab+') AS x FROM events;
-- refused: T014, REGEXP_EXTRACT(kind, 'ab+', 0)

-- name: REGEXP_EXTRACT that finds nothing
CREATE STREAM a AS SELECT STREAM id FROM events WHERE REGEXP_EXTRACT(kind, 'a(b)', 1) IS NOT NULL;
-- warned: T020, NULLIF(REGEXP_EXTRACT(kind, 'a(b)', 1), '') IS NOT NULL
-- same as
CREATE STREAM a AS SELECT STREAM id FROM events WHERE NOT REGEXP_EXTRACT(kind, 'a(b)', 1) IS NULL;

-- name: a default for REGEXP_EXTRACT
CREATE STREAM a AS SELECT STREAM COALESCE(REGEXP_EXTRACT(kind, 'a(b)', 1), '-') AS x FROM events;
-- warned: T020, COALESCE(NULLIF(REGEXP_EXTRACT(kind, 'a(b)', 1), ''), '-')
-- same as
CREATE STREAM a AS SELECT STREAM COALESCE(REGEXP_EXTRACT(kind, 'a(b)', 1), '-') AS x FROM events;

-- name: the second of a time
CREATE STREAM a AS SELECT STREAM EXTRACT(SECOND FROM ts) AS s FROM events;
-- warned: T020, SECOND(ts)
-- same as
CREATE STREAM a AS SELECT STREAM DATE_PART('SECOND', ts) AS s FROM events;
