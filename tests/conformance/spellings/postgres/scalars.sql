-- Functions and operators of PostgreSQL.

-- name: casts with colons
CREATE VIEW v AS SELECT id::TEXT AS a, kind::INTEGER AS b, ts::DATE AS c, score::NUMERIC(10, 2) AS d FROM events;
-- same as
CREATE VIEW v AS
SELECT CAST(id AS STRING) AS a, CAST(kind AS INT) AS b, CAST(ts AS DATE) AS c, CAST(score AS DECIMAL(10, 2)) AS d FROM events;

-- name: a cast of a cast
CREATE VIEW v AS SELECT kind::BIGINT::TEXT AS a FROM events;
-- same as
CREATE VIEW v AS SELECT CAST(CAST(kind AS BIGINT) AS STRING) AS a FROM events;

-- name: a cast binds closer than a sign
CREATE VIEW v AS SELECT -id::INT AS a, id + small::BIGINT AS b FROM events;
-- same as
CREATE VIEW v AS SELECT -CAST(id AS INT) AS a, id + CAST(small AS BIGINT) AS b FROM events;

-- name: EXTRACT
CREATE VIEW v AS SELECT EXTRACT(DOW FROM ts) AS a FROM events;
-- same as
-- Sunday is 0 in PostgreSQL and 1 in DAYOFWEEK.
CREATE VIEW v AS SELECT DATE_PART('DOW', ts) AS a FROM events;

-- name: the parts of a time
CREATE VIEW v AS
SELECT EXTRACT(YEAR FROM ts) AS y, EXTRACT(MONTH FROM ts) AS m, EXTRACT(DAY FROM ts) AS d, EXTRACT(HOUR FROM ts) AS h,
  EXTRACT(MINUTE FROM ts) AS n
FROM events;
-- same as
CREATE VIEW v AS
SELECT DATE_PART('YEAR', ts) AS y, DATE_PART('MONTH', ts) AS m, DATE_PART('DAY', ts) AS d, DATE_PART('HOUR', ts) AS h,
  DATE_PART('MINUTE', ts) AS n
FROM events;

-- name: EXTRACT of the epoch
CREATE VIEW v AS SELECT EXTRACT(EPOCH FROM ts) AS a FROM events;
-- refused: S026

-- name: date_part
CREATE VIEW v AS SELECT date_part('year', ts) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT DATE_PART('year', ts) AS a FROM events;

-- name: date_trunc
CREATE VIEW v AS SELECT date_trunc('day', ts) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT DATE_TRUNC('day', ts) AS a FROM events;

-- name: date_bin
CREATE VIEW v AS SELECT date_bin('15 minutes', ts, TIMESTAMP '2020-01-01') AS a FROM events;
-- same as
CREATE VIEW v AS SELECT date_bin(INTERVAL '15' MINUTE, ts, TIMESTAMP '2020-01-01') AS a FROM events;

-- name: SUBSTRING FROM FOR
CREATE VIEW v AS SELECT SUBSTRING(kind FROM 2 FOR 3) AS a, SUBSTRING(kind FROM 2) AS b FROM events;
-- same as
CREATE VIEW v AS SELECT SUBSTRING(kind, 2, 3) AS a, SUBSTRING(kind, 2) AS b FROM events;

-- name: POSITION
CREATE VIEW v AS SELECT POSITION('a' IN kind) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT POSITION('a', kind) AS a FROM events;

-- name: STRPOS
CREATE VIEW v AS SELECT STRPOS(kind, 'a') AS a FROM events;
-- same as
CREATE VIEW v AS SELECT INSTR(kind, 'a') AS a FROM events;

-- name: TRIM of every side
CREATE VIEW v AS
SELECT TRIM(kind) AS a, TRIM(BOTH FROM kind) AS b, TRIM(LEADING 'x' FROM kind) AS c, TRIM(TRAILING 'x' FROM kind) AS d
FROM events;
-- same as
CREATE VIEW v AS SELECT TRIM(kind) AS a, BTRIM(kind) AS b, LTRIM('x', kind) AS c, RTRIM('x', kind) AS d FROM events;

-- name: TRIM of a letter
CREATE VIEW v AS SELECT TRIM(BOTH 'x' FROM kind) AS a, TRIM('x' FROM kind) AS b FROM events;
-- same as
CREATE VIEW v AS SELECT BTRIM(kind, 'x') AS a, BTRIM(kind, 'x') AS b FROM events;

-- name: OVERLAY
CREATE VIEW v AS SELECT OVERLAY(kind PLACING 'xx' FROM 2 FOR 3) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT OVERLAY(kind, 'xx', 2, 3) AS a FROM events;

-- name: CHAR_LENGTH and LENGTH
CREATE VIEW v AS SELECT CHAR_LENGTH(kind) AS a, CHARACTER_LENGTH(kind) AS b, LENGTH(kind) AS c FROM events;
-- same as
CREATE VIEW v AS SELECT CHAR_LENGTH(kind) AS a, CHARACTER_LENGTH(kind) AS b, LENGTH(kind) AS c FROM events;

-- name: text joined by bars
CREATE VIEW v AS SELECT kind || '-' || payload AS a FROM events;
-- same as
CREATE VIEW v AS SELECT kind || '-' || payload AS a FROM events;

-- name: a number joined to text
CREATE VIEW v AS SELECT kind || id AS a FROM events;
-- same as
CREATE VIEW v AS SELECT kind || CAST(id AS STRING) AS a FROM events;

-- name: LIKE with an escape
CREATE VIEW v AS SELECT kind LIKE '10#%' ESCAPE '#' AS a, kind NOT LIKE '_b%' AS b FROM events;
-- same as
CREATE VIEW v AS SELECT kind LIKE '10\%' AS a, NOT kind LIKE '_b%' AS b FROM events;

-- name: ILIKE
CREATE VIEW v AS SELECT kind ILIKE 'a%' AS a, kind NOT ILIKE 'b%' AS b FROM events;
-- same as
CREATE VIEW v AS SELECT kind ILIKE 'a%' AS a, kind NOT ILIKE 'b%' AS b FROM events;

-- name: SIMILAR TO
CREATE VIEW v AS SELECT kind SIMILAR TO '(a|b)%' AS a FROM events;
-- same as
CREATE VIEW v AS SELECT kind RLIKE '(?s)^(?:(?:a|b).*)(?!.)' AS a FROM events;

-- name: a regular expression by a tilde
CREATE VIEW v AS SELECT kind ~ '^a' AS a FROM events;
-- refused: S001, RLIKE

-- name: BETWEEN SYMMETRIC
CREATE VIEW v AS SELECT id BETWEEN SYMMETRIC 10 AND 1 AS a FROM events;
-- same as
CREATE VIEW v AS SELECT (id BETWEEN 10 AND 1 OR id BETWEEN 1 AND 10) AS a FROM events;

-- name: IS UNKNOWN
CREATE VIEW v AS SELECT flag IS UNKNOWN AS a, flag IS NOT UNKNOWN AS b FROM events;
-- same as
CREATE VIEW v AS SELECT flag IS NULL AS a, flag IS NOT NULL AS b FROM events;

-- name: IS TRUE and IS NOT FALSE
CREATE VIEW v AS SELECT flag IS TRUE AS a, flag IS NOT FALSE AS b FROM events;
-- same as
CREATE VIEW v AS SELECT flag IS TRUE AS a, flag IS NOT FALSE AS b FROM events;

-- name: IS DISTINCT FROM
CREATE VIEW v AS SELECT kind IS DISTINCT FROM payload AS a FROM events;
-- same as
CREATE VIEW v AS SELECT kind IS DISTINCT FROM payload AS a FROM events;

-- name: COALESCE and NULLIF
CREATE VIEW v AS SELECT COALESCE(kind, payload, 'none') AS a, NULLIF(kind, '') AS b FROM events;
-- same as
CREATE VIEW v AS SELECT COALESCE(kind, payload, 'none') AS a, NULLIF(kind, '') AS b FROM events;

-- name: GREATEST and LEAST
-- PostgreSQL skips NULL, and so does Penstock.
CREATE VIEW v AS SELECT GREATEST(id, epoch) AS a, LEAST(id, epoch) AS b FROM events;
-- same as
CREATE VIEW v AS SELECT GREATEST(id, epoch) AS a, LEAST(id, epoch) AS b FROM events;

-- name: division of whole numbers
-- PostgreSQL gives a whole number, Penstock a DOUBLE; DIV gives a whole number.
CREATE VIEW v AS SELECT id / 2 AS a FROM events;
-- same as
CREATE VIEW v AS SELECT id / 2 AS a FROM events;

-- name: MOD and the percent sign
CREATE VIEW v AS SELECT MOD(id, 7) AS a, id % 7 AS b, POWER(score, 2) AS c FROM events;
-- same as
CREATE VIEW v AS SELECT MOD(id, 7) AS a, id % 7 AS b, POWER(score, 2) AS c FROM events;

-- name: a power by a caret
-- The caret is a power in PostgreSQL, and XOR of bits in Penstock and Spark.
CREATE VIEW v AS SELECT small ^ 2 AS a FROM events;
-- same as
CREATE VIEW v AS SELECT small ^ 2 AS a FROM events;

-- name: ARRAY with brackets
CREATE VIEW v AS SELECT ARRAY[1, 2, 3] AS a, ARRAY['x', kind] AS b FROM events;
-- same as
CREATE VIEW v AS SELECT ARRAY(1, 2, 3) AS a, ARRAY('x', kind) AS b FROM events;

-- name: ANY of an array
CREATE VIEW v AS SELECT kind = ANY(tags) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT EXISTS(tags, value -> kind = value) AS a FROM events;

-- name: array_length and cardinality
CREATE VIEW v AS SELECT CARDINALITY(tags) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT CARDINALITY(tags) AS a FROM events;

-- name: a ROW
CREATE VIEW v AS SELECT ROW(id, kind) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT NAMED_STRUCT('id', id, 'kind', kind) AS a FROM events;

-- name: intervals of PostgreSQL
CREATE VIEW v AS SELECT ts + INTERVAL '5 minutes' AS a, ts - INTERVAL '1 day' AS b FROM events;
-- same as
CREATE VIEW v AS SELECT ts + INTERVAL '5' MINUTE AS a, ts - INTERVAL '1' DAY AS b FROM events;

-- name: an interval of several units
CREATE VIEW v AS SELECT ts + INTERVAL '1 hour 30 minutes' AS a, ts + INTERVAL '1:30' MINUTE TO SECOND AS b FROM events;
-- same as
CREATE VIEW v AS SELECT ts + INTERVAL '90' MINUTE AS a, ts + INTERVAL '90' SECOND AS b FROM events;

-- name: a difference of times
CREATE VIEW v AS SELECT ts - TIMESTAMP '2024-01-01 00:00:00' AS a FROM events;
-- same as
CREATE VIEW v AS SELECT ts - TIMESTAMP '2024-01-01' AS a FROM events;

-- name: current times
CREATE VIEW v AS SELECT CURRENT_TIMESTAMP AS a, CURRENT_DATE AS b, now() AS c FROM events;
-- same as
CREATE VIEW v AS SELECT CURRENT_TIMESTAMP() AS a, CURRENT_DATE() AS b, NOW() AS c FROM events;

-- name: a TIME literal
CREATE VIEW v AS SELECT TIME '10:00:00' AS a FROM events;
-- same as
CREATE VIEW v AS SELECT CAST('10:00' AS TIME) AS a FROM events;

-- name: to_timestamp of seconds
CREATE VIEW v AS SELECT to_timestamp(epoch) AS a FROM events;
-- refused: T006, TIMESTAMP_SECONDS

-- name: to_char of a time
-- Patterns of PostgreSQL are YYYY-MM-DD, those of Penstock yyyy-MM-dd.
CREATE VIEW v AS SELECT to_char(ts, 'YYYY-MM-DD') AS a FROM events;
-- refused: T006, DATE_FORMAT

-- name: AGE
CREATE VIEW v AS SELECT AGE(ts) AS a FROM events;
-- refused: N005, it counts in years, months and days

-- name: SPLIT_PART
CREATE VIEW v AS SELECT SPLIT_PART(kind, ',', 2) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT SPLIT_PART(kind, ',', 2) AS a FROM events;

-- name: a field of JSON by an arrow
CREATE VIEW v AS SELECT payload ->> 'name' AS a FROM events;
-- refused: S001

-- name: STRING_AGG
CREATE VIEW v AS SELECT kind, STRING_AGG(payload, ',') AS a FROM events GROUP BY kind;
-- refused: W044, TUMBLE

-- name: STRING_AGG of a table
CREATE VIEW v AS SELECT region, STRING_AGG(name, ', ' ORDER BY name DESC) AS a FROM users GROUP BY region;
-- same as
CREATE VIEW v AS
SELECT region, STRING_AGG(name, ', ') WITHIN GROUP (ORDER BY name DESC NULLS LAST) AS a FROM users GROUP BY region;

-- name: ARRAY_AGG
CREATE VIEW v AS SELECT kind, ARRAY_AGG(id) AS a FROM events GROUP BY kind;
-- refused: W044, TUMBLE

-- name: ARRAY_AGG of a table
CREATE VIEW v AS
SELECT region, ARRAY_AGG(DISTINCT name) AS a, ARRAY_AGG(name ORDER BY user_id) FILTER (WHERE gender = 'f') AS b
FROM users GROUP BY region;
-- same as
CREATE VIEW v AS
SELECT region, ARRAY_AGG(DISTINCT name) AS a, ARRAY_AGG(name) WITHIN GROUP (ORDER BY user_id) FILTER (WHERE gender = 'f') AS b
FROM users GROUP BY region;

-- name: BOOL_AND, EVERY and FILTER
CREATE VIEW v AS
SELECT kind, BOOL_AND(flag) AS a, EVERY(flag) AS b, COUNT(*) FILTER (WHERE flag) AS c FROM events GROUP BY kind;
-- same as
CREATE VIEW v AS
SELECT kind, BOOL_AND(flag) AS a, EVERY(flag) AS b, COUNT(*) FILTER (WHERE flag) AS c FROM events GROUP BY kind;

-- name: PERCENTILE_CONT
CREATE VIEW v AS SELECT kind, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY score) AS a FROM events GROUP BY kind;
-- refused: W044

-- name: PERCENTILE_CONT of a window
CREATE TABLE t AS SELECT kind, PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY score) AS a, MEDIAN(small) AS b FROM events
GROUP BY kind, TUMBLE(ts, INTERVAL '1' HOUR);
-- same as
CREATE TABLE t AS SELECT kind, PERCENTILE(score, 0.25) AS a, PERCENTILE(small, 0.5) AS b FROM events
GROUP BY kind, TUMBLE(ts, INTERVAL '1' HOUR);

-- name: PERCENTILE_DISC of a table
CREATE TABLE t AS SELECT region, PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY user_id) AS a FROM users GROUP BY region;
-- same as
CREATE TABLE t AS SELECT region, (GET(SORT_ARRAY(COLLECT_LIST(CAST(user_id AS DOUBLE))),
  GREATEST(CAST(CEIL(CAST(0.5 AS DOUBLE) * COUNT(user_id)) AS INT) - 1, 0))) AS a FROM users GROUP BY region;

-- name: PERCENTILE_DISC of a falling order
CREATE TABLE t AS SELECT region, PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY user_id DESC) AS a FROM users GROUP BY region;
-- same as
CREATE TABLE t AS SELECT region, GET(SORT_ARRAY(COLLECT_LIST(CAST(user_id AS DOUBLE)), FALSE),
  GREATEST(CAST(CEIL(CAST(0.5 AS DOUBLE) * COUNT(user_id)) AS INT) - 1, 0)) AS a FROM users GROUP BY region;

-- name: MODE
CREATE TABLE t AS SELECT region, MODE() WITHIN GROUP (ORDER BY name) AS a FROM users GROUP BY region;
-- same as
CREATE TABLE t AS SELECT region, AGGREGATE(SORT_ARRAY(COLLECT_LIST(name)),
  NAMED_STRUCT('best', GET(SORT_ARRAY(COLLECT_LIST(name)), 0), 'most', 0,
    'last', GET(SORT_ARRAY(COLLECT_LIST(name)), 0), 'run', 0),
  (s, x) -> NAMED_STRUCT('best', IF(IF(x = s.last, s.run + 1, 1) > s.most, x, s.best),
    'most', GREATEST(IF(x = s.last, s.run + 1, 1), s.most), 'last', x, 'run', IF(x = s.last, s.run + 1, 1)),
  s -> s.best) AS a FROM users GROUP BY region;

-- name: MODE over a stream without a window
CREATE TABLE t AS SELECT kind, MODE() WITHIN GROUP (ORDER BY small DESC) AS a FROM events GROUP BY kind;
-- refused: W044, GROUP BY TUMBLE(ts, INTERVAL '1' HOUR), kind

-- name: several percentiles
CREATE TABLE t AS SELECT region, PERCENTILE_DISC(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY user_id) AS a FROM users GROUP BY region;
-- same as
CREATE TABLE t AS SELECT region, CASE WHEN COUNT(user_id) > 0 THEN ARRAY(
  GET(SORT_ARRAY(COLLECT_LIST(CAST(user_id AS DOUBLE))), GREATEST(CAST(CEIL(CAST(0.5 AS DOUBLE) * COUNT(user_id)) AS INT) - 1, 0)),
  GET(SORT_ARRAY(COLLECT_LIST(CAST(user_id AS DOUBLE))), GREATEST(CAST(CEIL(CAST(0.9 AS DOUBLE) * COUNT(user_id)) AS INT) - 1, 0))
) END AS a FROM users GROUP BY region;

-- name: a percentile with FILTER
CREATE TABLE t AS SELECT region, MEDIAN(user_id) FILTER (WHERE name > 'a') AS a FROM users GROUP BY region;
-- refused: S026, MEDIAN of CASE WHEN

-- name: random values
CREATE VIEW v AS SELECT gen_random_uuid() AS a FROM events;
-- refused: N005

-- name: AT TIME ZONE
-- What it gives depends on the type of the time in PostgreSQL.
CREATE VIEW v AS SELECT ts AT TIME ZONE 'Europe/Berlin' AS a FROM events;
-- refused: S026, FROM_UTC_TIMESTAMP

-- name: CASE of both kinds
CREATE VIEW v AS
SELECT CASE kind WHEN 'a' THEN 1 ELSE 2 END AS a, CASE WHEN kind = 'a' THEN 1 END AS b FROM events;
-- same as
CREATE VIEW v AS
SELECT CASE kind WHEN 'a' THEN 1 ELSE 2 END AS a, CASE WHEN kind = 'a' THEN 1 END AS b FROM events;

-- name: a string with escapes
CREATE VIEW v AS SELECT kind = E'a\nb' AS a FROM events;
-- refused: S001

-- name: a string in dollars
CREATE VIEW v AS SELECT kind = $$a$$ AS a FROM events;
-- refused: S006
