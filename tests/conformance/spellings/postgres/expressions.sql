-- Expressions of PostgreSQL, one a block.

-- name: ts::date
CREATE STREAM v AS SELECT ts::date AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST(ts AS DATE) AS a FROM events;

-- name: ts::timestamptz
CREATE STREAM v AS SELECT ts::timestamptz AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST(ts AS TIMESTAMP) AS a FROM events;

-- name: kind::int
CREATE STREAM v AS SELECT kind::int AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST(kind AS INT) AS a FROM events;

-- name: kind::varchar(3)
CREATE STREAM v AS SELECT kind::varchar(3) AS a FROM events;
-- refused: T009, STRING, and SUBSTRING(text, 1, 3) for its first characters

-- name: kind::numeric(10,2)
CREATE STREAM v AS SELECT kind::numeric(10,2) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST(kind AS DECIMAL(10, 2)) AS a FROM events;

-- name: '2020-01-01'::date
CREATE STREAM v AS SELECT '2020-01-01'::date AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST('2020-01-01' AS DATE) AS a FROM events;

-- name: '1 day'::interval
CREATE STREAM v AS SELECT '1 day'::interval AS a FROM events;
-- same as
CREATE STREAM v AS SELECT STREAM INTERVAL '1' DAY AS a FROM events;

-- name: ts + CAST('2 hours' AS INTERVAL)
CREATE STREAM v AS SELECT ts + CAST('2 hours' AS INTERVAL) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT STREAM ts + INTERVAL '2' HOUR AS a FROM events;

-- name: kind::interval
CREATE STREAM v AS SELECT kind::interval AS a FROM events;
-- refused: S011, INTERVAL '1 day' is written as it is, beside a time

-- name: '1 day'::interval[]
CREATE STREAM v AS SELECT '1 day'::interval[] AS a FROM events;
-- refused: S011, INTERVAL '1 day' is written as it is, beside a time

-- name: '{"a":1}'::jsonb
CREATE STREAM v AS SELECT '{"a":1}'::jsonb AS a FROM events;
-- refused: S011, STRING: GET_JSON_OBJECT(json, '$.a') reads a field of it

-- name: CAST(kind AS integer)
CREATE STREAM v AS SELECT CAST(kind AS integer) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST(kind AS INT) AS a FROM events;

-- name: score::int
CREATE STREAM v AS SELECT score::int AS a FROM events;
-- warned: T020, ROUND(score)::int
-- same as
CREATE STREAM v AS SELECT CAST(score AS INT) AS a FROM events;

-- name: date '2020-01-01'
CREATE STREAM v AS SELECT date '2020-01-01' AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST('2020-01-01' AS DATE) AS a FROM events;

-- name: timestamp '2020-01-01 10:00'
CREATE STREAM v AS SELECT timestamp '2020-01-01 10:00' AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST('2020-01-01 10:00' AS TIMESTAMP) AS a FROM events;

-- name: timestamptz '2020-01-01 10:00+01'
CREATE STREAM v AS SELECT timestamptz '2020-01-01 10:00+01' AS a FROM events;
-- refused: S001, TIMESTAMP '2026-01-31 12:00:00'; CAST('2026-01-31 12:00:00+01:00' AS

-- name: time '10:00'
CREATE STREAM v AS SELECT time '10:00' AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST('10:00' AS TIME) AS a FROM events;

-- name: interval '1 day 2 hours'
CREATE STREAM v AS SELECT interval '1 day 2 hours' AS a FROM events;
-- same as
CREATE STREAM v AS SELECT INTERVAL '26' HOUR AS a FROM events;

-- name: ts - interval '1 day 03:00'
CREATE STREAM v AS SELECT ts - interval '1 day 03:00' AS a FROM events;
-- same as
CREATE STREAM v AS SELECT ts - INTERVAL '97200' SECOND AS a FROM events;

-- name: ts::date - day
CREATE STREAM v AS SELECT ts::date - day AS a FROM events;
-- warned: T020, DATEDIFF(ts::date, day)
-- same as
CREATE STREAM v AS SELECT CAST(ts AS DATE) - day AS a FROM events;

-- name: age(ts, ts)
CREATE STREAM v AS SELECT age(ts, ts) AS a FROM events;
-- refused: N005, ts - ts

-- name: date_trunc('hour', ts, 'Europe/Paris')
CREATE STREAM v AS SELECT date_trunc('hour', ts, 'Europe/Paris') AS a FROM events;
-- refused: T005, TO_UTC_TIMESTAMP(DATE_TRUNC('hour', FROM_UTC_TIMESTAMP(ts

-- name: date_trunc('decade', ts)
CREATE STREAM v AS SELECT date_trunc('decade', ts) AS a FROM events;
-- refused: T014, known: MICROSECOND, MILLISECOND, SECOND, MINUTE, HOUR, DAY, WEEK

-- name: date_bin('15 minutes', ts, timestamp '2001-01-01')
CREATE STREAM v AS SELECT date_bin('15 minutes', ts, timestamp '2001-01-01') AS a FROM events;
-- same as
CREATE STREAM v AS SELECT TIMESTAMP_MICROS(UNIX_MICROS(ts) - PMOD(UNIX_MICROS(ts) - UNIX_MICROS(CAST('2001-01-01' AS TIMESTAMP)), 900000000)) AS a FROM events;

-- name: date_part('epoch', ts)
CREATE STREAM v AS SELECT date_part('epoch', ts) AS a FROM events;
-- refused: T014, UNIX_SECONDS(ts)

-- name: extract(year from ts)
CREATE STREAM v AS SELECT extract(year from ts) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT DATE_PART('YEAR', ts) AS a FROM events;

-- name: extract(epoch from ts)
CREATE STREAM v AS SELECT extract(epoch from ts) AS a FROM events;
-- refused: S026, UNIX_SECONDS(ts)

-- name: extract(isodow from ts)
CREATE STREAM v AS SELECT extract(isodow from ts) AS a FROM events;
-- refused: T014, WEEKDAY(ts) + 1

-- name: extract(doy from ts)
CREATE STREAM v AS SELECT extract(doy from ts) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT DATE_PART('DOY', ts) AS a FROM events;

-- name: extract(week from ts)
CREATE STREAM v AS SELECT extract(week from ts) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT DATE_PART('WEEK', ts) AS a FROM events;

-- name: extract(millisecond from ts)
CREATE STREAM v AS SELECT extract(millisecond from ts) AS a FROM events;
-- refused: T014, DATE_PART('SECOND', ts) * 1000

-- name: extract(microseconds from ts)
CREATE STREAM v AS SELECT extract(microseconds from ts) AS a FROM events;
-- refused: T014, DATE_PART('SECOND', ts) * 1000000

-- name: extract(century from ts)
CREATE STREAM v AS SELECT extract(century from ts) AS a FROM events;
-- refused: T014, (DATE_PART('YEAR', ts) + 99) DIV 100

-- name: extract(epoch from (ts - ts))
CREATE STREAM v AS SELECT extract(epoch from (ts - ts)) AS a FROM events;
-- refused: S026, UNIX_SECONDS(ts) - UNIX_SECONDS(ts)

-- name: to_timestamp(epoch)
CREATE STREAM v AS SELECT to_timestamp(epoch) AS a FROM events;
-- refused: T006, TIMESTAMP_SECONDS(epoch), or TIMESTAMP_MILLIS(epoch)

-- name: to_timestamp('2020', 'YYYY')
CREATE STREAM v AS SELECT to_timestamp('2020', 'YYYY') AS a FROM events;
-- refused: T014, 'yyyy'

-- name: to_date('05 Dec 2000', 'DD Mon YYYY')
CREATE STREAM v AS SELECT to_date('05 Dec 2000', 'DD Mon YYYY') AS a FROM events;
-- refused: T014, 'dd MMM yyyy'

-- name: to_char(ts, 'HH24:MI:SS')
CREATE STREAM v AS SELECT to_char(ts, 'HH24:MI:SS') AS a FROM events;
-- refused: T006, DATE_FORMAT(ts, 'HH:mm:ss')

-- name: clock_timestamp()
CREATE STREAM v AS SELECT clock_timestamp() AS a FROM events;
-- refused: N005, CURRENT_TIMESTAMP

-- name: statement_timestamp()
CREATE STREAM v AS SELECT statement_timestamp() AS a FROM events;
-- refused: N005, CURRENT_TIMESTAMP

-- name: ts AT TIME ZONE 'UTC'
CREATE STREAM v AS SELECT ts AT TIME ZONE 'UTC' AS a FROM events;
-- refused: S026, FROM_UTC_TIMESTAMP(ts, 'UTC')

-- name: timezone('UTC', ts)
CREATE STREAM v AS SELECT timezone('UTC', ts) AS a FROM events;
-- refused: N005, FROM_UTC_TIMESTAMP(ts, 'UTC')

-- name: right(kind, -2)
CREATE STREAM v AS SELECT right(kind, -2) AS a FROM events;
-- warned: T020, SUBSTRING(kind, 3)
-- same as
CREATE STREAM v AS SELECT `RIGHT`(kind, -2) AS a FROM events;

-- name: ltrim(kind, 'xy')
CREATE STREAM v AS SELECT ltrim(kind, 'xy') AS a FROM events;
-- warned: T020, LTRIM('xy', kind)
-- same as
CREATE STREAM v AS SELECT LTRIM(kind, 'xy') AS a FROM events;

-- name: rtrim(kind, 'xy')
CREATE STREAM v AS SELECT rtrim(kind, 'xy') AS a FROM events;
-- warned: T020, RTRIM('xy', kind)
-- same as
CREATE STREAM v AS SELECT RTRIM(kind, 'xy') AS a FROM events;

-- name: trim(both from kind)
CREATE STREAM v AS SELECT trim(both from kind) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT BTRIM(kind) AS a FROM events;

-- name: trim(both 'x' from kind)
CREATE STREAM v AS SELECT trim(both 'x' from kind) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT BTRIM(kind, 'x') AS a FROM events;

-- name: trim(leading 'x' from kind)
CREATE STREAM v AS SELECT trim(leading 'x' from kind) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT LTRIM('x', kind) AS a FROM events;

-- name: trim(kind, 'x')
CREATE STREAM v AS SELECT trim(kind, 'x') AS a FROM events;
-- refused: T005, BTRIM(kind, 'x')

-- name: trim('x' from kind)
CREATE STREAM v AS SELECT trim('x' from kind) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT BTRIM(kind, 'x') AS a FROM events;

-- name: substring(kind from 2 for 3)
CREATE STREAM v AS SELECT substring(kind from 2 for 3) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT SUBSTRING(kind, 2, 3) AS a FROM events;

-- name: substring(kind for 3)
CREATE STREAM v AS SELECT substring(kind for 3) AS a FROM events;
-- refused: S001, SUBSTRING(text FROM 1 FOR 3)

-- name: substring(kind from 'a.c')
CREATE STREAM v AS SELECT substring(kind from 'a.c') AS a FROM events;
-- refused: S026, REGEXP_SUBSTR(kind, 'a.c')

-- name: position('a' in kind)
CREATE STREAM v AS SELECT position('a' in kind) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT POSITION('a', kind) AS a FROM events;

-- name: strpos(kind, 'a')
CREATE STREAM v AS SELECT strpos(kind, 'a') AS a FROM events;
-- same as
CREATE STREAM v AS SELECT INSTR(kind, 'a') AS a FROM events;

-- name: overlay(kind placing 'x' from 2 for 3)
CREATE STREAM v AS SELECT overlay(kind placing 'x' from 2 for 3) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT OVERLAY(kind, 'x', 2, 3) AS a FROM events;

-- name: string_to_array(kind, ',')
CREATE STREAM v AS SELECT string_to_array(kind, ',') AS a FROM events;
-- refused: N005, SPLIT(kind, ',')

-- name: array_to_string(tags, ',')
CREATE STREAM v AS SELECT array_to_string(tags, ',') AS a FROM events;
-- same as
CREATE STREAM v AS SELECT ARRAY_JOIN(tags, ',') AS a FROM events;

-- name: regexp_replace(kind, 'a', 'b', 'g')
CREATE STREAM v AS SELECT regexp_replace(kind, 'a', 'b', 'g') AS a FROM events;
-- refused: T005, REGEXP_REPLACE(kind, 'a', 'b')

-- name: regexp_replace(kind, 'a', 'b', 'gi')
CREATE STREAM v AS SELECT regexp_replace(kind, 'a', 'b', 'gi') AS a FROM events;
-- refused: T005, REGEXP_REPLACE(kind, '(?i)a', 'b')

-- name: regexp_match(kind, 'a(b)')
CREATE STREAM v AS SELECT regexp_match(kind, 'a(b)') AS a FROM events;
-- refused: N005, REGEXP_EXTRACT(kind, 'a(b)', 1)

-- name: regexp_matches(kind, 'a(b)', 'g')
CREATE STREAM v AS SELECT regexp_matches(kind, 'a(b)', 'g') AS a FROM events;
-- refused: N005, REGEXP_EXTRACT_ALL(kind, 'a(b)', 0)

-- name: regexp_split_to_array(kind, ',')
CREATE STREAM v AS SELECT regexp_split_to_array(kind, ',') AS a FROM events;
-- refused: N005, SPLIT(kind, ',')

-- name: regexp_split_to_table(kind, ',')
CREATE STREAM v AS SELECT regexp_split_to_table(kind, ',') AS a FROM events;
-- refused: N005, EXPLODE(SPLIT(kind, ','))

-- name: regexp_like(kind, 'a', 'i')
CREATE STREAM v AS SELECT regexp_like(kind, 'a', 'i') AS a FROM events;
-- refused: T005, REGEXP_LIKE(kind, '(?i)a')

-- name: kind not like 'a!_%' escape '!'
CREATE STREAM v AS SELECT kind not like 'a!_%' escape '!' AS a FROM events;
-- same as
CREATE STREAM v AS SELECT kind NOT LIKE 'a\_%' AS a FROM events;

-- name: kind similar to '%(a|b)%'
CREATE STREAM v AS SELECT kind similar to '%(a|b)%' AS a FROM events;
-- same as
CREATE STREAM v AS SELECT kind RLIKE '(?s)^(?:.*(?:a|b).*)(?!.)' AS a FROM events;

-- name: starts_with(kind, 'a')
CREATE STREAM v AS SELECT starts_with(kind, 'a') AS a FROM events;
-- same as
CREATE STREAM v AS SELECT STARTSWITH(kind, 'a') AS a FROM events;

-- name: sha256(kind::bytea)
CREATE STREAM v AS SELECT sha256(kind::bytea) AS a FROM events;
-- warned: T020, UNHEX(sha256(kind::bytea))
-- same as
CREATE STREAM v AS SELECT SHA2(CAST(kind AS BINARY), 256) AS a FROM events;

-- name: encode(kind::bytea, 'hex')
CREATE STREAM v AS SELECT encode(kind::bytea, 'hex') AS a FROM events;
-- refused: T006, HEX(kind::bytea)

-- name: encode(kind::bytea, 'base64')
CREATE STREAM v AS SELECT encode(kind::bytea, 'base64') AS a FROM events;
-- refused: T006, BASE64(kind::bytea)

-- name: decode('ff', 'hex')
CREATE STREAM v AS SELECT decode('ff', 'hex') AS a FROM events;
-- refused: T006, UNHEX('ff')

-- name: digest(kind, 'sha256')
CREATE STREAM v AS SELECT digest(kind, 'sha256') AS a FROM events;
-- refused: N005, SHA2(kind, 256)

-- name: format('%s', kind)
CREATE STREAM v AS SELECT format('%s', kind) AS a FROM events;
-- refused: N005, FORMAT_STRING('%s', kind)

-- name: to_hex(255)
CREATE STREAM v AS SELECT to_hex(255) AS a FROM events;
-- refused: N005, LOWER(HEX(255))

-- name: string_to_table(kind, ',')
CREATE STREAM v AS SELECT string_to_table(kind, ',') AS a FROM events;
-- refused: N005, EXPLODE(SPLIT(kind, ','))

-- name: E'a\tb'
CREATE STREAM v AS SELECT E'a\tb' AS a FROM events;
-- refused: S001, leave out E: a backslash is a backslash, and CHR(10) the end of a line

-- name: E'it''s'
CREATE STREAM v AS SELECT E'it''s' AS a FROM events;
-- refused: S001, leave out E: a backslash is a backslash, and CHR(10) the end of a line

-- name: $$abc$$
CREATE STREAM v AS SELECT $$abc$$ AS a FROM events;
-- refused: S006, texts stand in single quotes: 'it''s'; a script has no variables of

-- name: $tag$abc$tag$
CREATE STREAM v AS SELECT $tag$abc$tag$ AS a FROM events;
-- refused: S006, texts stand in single quotes: 'it''s'; a script has no variables of

-- name: B'101'
CREATE STREAM v AS SELECT B'101' AS a FROM events;
-- refused: S001, CONV('101', 2, 10) reads bits

-- name: X'1F'
CREATE STREAM v AS SELECT X'1F' AS a FROM events;
-- same as
CREATE STREAM v AS SELECT UNHEX('1F') AS a FROM events;

-- name: 2 ^ 3
CREATE STREAM v AS SELECT 2 ^ 3 AS a FROM events;
-- warned: T020, POWER(2, 3)
-- same as
CREATE STREAM v AS SELECT 2 ^ 3 AS a FROM events;

-- name: id ^ 2
CREATE STREAM v AS SELECT id ^ 2 AS a FROM events;
-- warned: T020, POWER(id, 2)
-- same as
CREATE STREAM v AS SELECT id ^ 2 AS a FROM events;

-- name: div(id, 3)
CREATE STREAM v AS SELECT div(id, 3) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT (id DIV 3) AS a FROM events;

-- name: round(score::numeric, 2)
CREATE STREAM v AS SELECT round(score::numeric, 2) AS a FROM events;
-- warned: T020, CAST(score AS DECIMAL(38, 10))
-- same as
CREATE STREAM v AS SELECT ROUND(CAST(score AS DECIMAL), 2) AS a FROM events;

-- name: trunc(score)
CREATE STREAM v AS SELECT trunc(score) AS a FROM events;
-- refused: T005, SIGN(score) * FLOOR(ABS(score))

-- name: trunc(score::numeric, 2)
CREATE STREAM v AS SELECT trunc(score::numeric, 2) AS a FROM events;
-- refused: T006, SIGN(score::numeric) * FLOOR(ABS(score::numeric) * POWER(10, 2)) /

-- name: tags[1]
CREATE STREAM v AS SELECT tags[1] AS a FROM events;
-- warned: T020, TRY_ELEMENT_AT(tags, 1)
-- same as
CREATE STREAM v AS SELECT tags[1] AS a FROM events;

-- name: array_length(tags, 1)
CREATE STREAM v AS SELECT array_length(tags, 1) AS a FROM events;
-- refused: N005, ARRAY_SIZE(tags)

-- name: array_prepend('x', tags)
CREATE STREAM v AS SELECT array_prepend('x', tags) AS a FROM events;
-- refused: T006, ARRAY_PREPEND(tags, 'x')

-- name: array_cat(tags, tags)
CREATE STREAM v AS SELECT array_cat(tags, tags) AS a FROM events;
-- refused: N005, tags || tags

-- name: array_replace(tags, 'a', 'b')
CREATE STREAM v AS SELECT array_replace(tags, 'a', 'b') AS a FROM events;
-- refused: N005, TRANSFORM(tags, e -> CASE WHEN e = 'a' THEN 'b' ELSE e END)

-- name: array_positions(tags, 'a')
CREATE STREAM v AS SELECT array_positions(tags, 'a') AS a FROM events;
-- refused: N005, FILTER(TRANSFORM(tags, (e, i) -> CASE WHEN e = 'a' THEN i + 1 END), p

-- name: array_upper(tags, 1)
CREATE STREAM v AS SELECT array_upper(tags, 1) AS a FROM events;
-- refused: N005, ARRAY_SIZE(tags)

-- name: array_agg(tags)
CREATE STREAM v AS SELECT array_agg(tags) AS a FROM events;
-- refused: W044, GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)

-- name: trim_array(tags, 1)
CREATE STREAM v AS SELECT trim_array(tags, 1) AS a FROM events;
-- refused: N005, SLICE(tags, 1, ARRAY_SIZE(tags) - 1)

-- name: tags @> ARRAY['a']
CREATE STREAM v AS SELECT tags @> ARRAY['a'] AS a FROM events;
-- refused: S006, ARRAY_CONTAINS(array, value)

-- name: 'a' = ANY(tags)
CREATE STREAM v AS SELECT 'a' = ANY(tags) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT EXISTS(tags, value -> 'a' = value) AS a FROM events;

-- name: 'a' <> ALL(tags)
CREATE STREAM v AS SELECT 'a' <> ALL(tags) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT FORALL(tags, value -> 'a' <> value) AS a FROM events;

-- name: 'a' = ANY(ARRAY['a','b'])
CREATE STREAM v AS SELECT 'a' = ANY(ARRAY['a','b']) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT 'a' IN ('a', 'b') AS a FROM events;

-- name: kind BETWEEN SYMMETRIC 'b' AND 'a'
CREATE STREAM v AS SELECT kind BETWEEN SYMMETRIC 'b' AND 'a' AS a FROM events;
-- same as
CREATE STREAM v AS SELECT (kind BETWEEN 'b' AND 'a' OR kind BETWEEN 'a' AND 'b') AS a FROM events;

-- name: flag IS NOT UNKNOWN
CREATE STREAM v AS SELECT flag IS NOT UNKNOWN AS a FROM events;
-- same as
CREATE STREAM v AS SELECT flag IS NOT NULL AS a FROM events;

-- name: payload::json->'a'
CREATE STREAM v AS SELECT payload::json->'a' AS a FROM events;
-- refused: S011, STRING: GET_JSON_OBJECT(json, '$.a') reads a field of it

-- name: payload::jsonb->>'a'
CREATE STREAM v AS SELECT payload::jsonb->>'a' AS a FROM events;
-- refused: S011, STRING: GET_JSON_OBJECT(json, '$.a') reads a field of it

-- name: payload->>'a'
CREATE STREAM v AS SELECT payload->>'a' AS a FROM events;
-- refused: S001, GET_JSON_OBJECT(payload, '$.a')

-- name: payload->'a'->0->>'b'
CREATE STREAM v AS SELECT payload->'a'->0->>'b' AS a FROM events;
-- refused: S001, GET_JSON_OBJECT(payload, '$.a[0].b')

-- name: payload#>>'{a,b}'
CREATE STREAM v AS SELECT payload#>>'{a,b}' AS a FROM events;
-- refused: S006, GET_JSON_OBJECT(json, '$.a.b') reads a field of JSON

-- name: jsonb_extract_path_text(payload, 'a', 'b')
CREATE STREAM v AS SELECT jsonb_extract_path_text(payload, 'a', 'b') AS a FROM events;
-- refused: N005, GET_JSON_OBJECT(payload, '$.' || 'a' || '.' || 'b')

-- name: json_extract_path_text(payload, 'a')
CREATE STREAM v AS SELECT json_extract_path_text(payload, 'a') AS a FROM events;
-- refused: N005, GET_JSON_OBJECT(payload, '$.' || 'a')

-- name: jsonb_array_length(payload)
CREATE STREAM v AS SELECT jsonb_array_length(payload) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT JSON_ARRAY_LENGTH(payload) AS a FROM events;

-- name: jsonb_array_elements(payload)
CREATE STREAM v AS SELECT jsonb_array_elements(payload) AS a FROM events;
-- refused: N005, EXPLODE(FROM_JSON(payload, 'ARRAY<STRING>'))

-- name: jsonb_array_elements_text(payload)
CREATE STREAM v AS SELECT jsonb_array_elements_text(payload) AS a FROM events;
-- refused: N005, EXPLODE(FROM_JSON(payload, 'ARRAY<STRING>'))

-- name: jsonb_each(payload)
CREATE STREAM v AS SELECT jsonb_each(payload) AS a FROM events;
-- refused: N005, EXPLODE(JSON_OBJECT_KEYS(payload))

-- name: jsonb_object_keys(payload)
CREATE STREAM v AS SELECT jsonb_object_keys(payload) AS a FROM events;
-- refused: N005, EXPLODE(JSON_OBJECT_KEYS(payload))

-- name: jsonb_path_query(payload, '$.a')
CREATE STREAM v AS SELECT jsonb_path_query(payload, '$.a') AS a FROM events;
-- refused: N005, GET_JSON_OBJECT(payload, '$.a')

-- name: jsonb_build_object('a', 1)
CREATE STREAM v AS SELECT jsonb_build_object('a', 1) AS a FROM events;
-- refused: N005, TO_JSON(NAMED_STRUCT('a', 1))

-- name: to_jsonb(address)
CREATE STREAM v AS SELECT to_jsonb(address) AS a FROM events;
-- refused: N005, TO_JSON(address)

-- name: row_to_json(address)
CREATE STREAM v AS SELECT row_to_json(address) AS a FROM events;
-- refused: N005, TO_JSON(address)

-- name: json_value(payload, '$.a')
CREATE STREAM v AS SELECT json_value(payload, '$.a') AS a FROM events;
-- refused: N005, GET_JSON_OBJECT(payload, '$.a')

-- name: ROW(1, 2)
CREATE STREAM v AS SELECT ROW(1, 2) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT NAMED_STRUCT('col1', 1, 'col2', 2) AS a FROM events;

-- name: ROW(1, 'a') = ROW(1, 'a')
CREATE STREAM v AS SELECT ROW(1, 'a') = ROW(1, 'a') AS a FROM events;
-- same as
CREATE STREAM v AS SELECT NAMED_STRUCT('col1', 1, 'col2', 'a') = NAMED_STRUCT('col1', 1, 'col2', 'a') AS a FROM events;

-- name: 't'::boolean
CREATE STREAM v AS SELECT 't'::boolean AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST('t' AS BOOLEAN) AS a FROM events;

-- name: 1::boolean
CREATE STREAM v AS SELECT 1::boolean AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST(1 AS BOOLEAN) AS a FROM events;

-- name: flag::int
CREATE STREAM v AS SELECT flag::int AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST(flag AS INT) AS a FROM events;

-- name: NULL::text
CREATE STREAM v AS SELECT NULL::text AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST(NULL AS STRING) AS a FROM events;

-- name: pg_typeof(kind)
CREATE STREAM v AS SELECT pg_typeof(kind) AS a FROM events;
-- refused: N005, TYPEOF(kind)

-- name: coalesce(nullif(kind, ''), 'x')::text
CREATE STREAM v AS SELECT coalesce(nullif(kind, ''), 'x')::text AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST(COALESCE(NULLIF(kind, ''), 'x') AS STRING) AS a FROM events;

-- name: (ts, ts) OVERLAPS (ts, ts)
CREATE STREAM v AS SELECT (ts, ts) OVERLAPS (ts, ts) AS a FROM events;
-- refused: S001, two spans overlap where start1 < end2 AND start2 < end1

-- name: generate_series(1, 3)
CREATE STREAM v AS SELECT generate_series(1, 3) AS a FROM events;
-- refused: N005, SEQUENCE(1, 3)

-- name: unnest(tags)
CREATE STREAM v AS SELECT unnest(tags) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT STREAM EXPLODE(tags) AS a FROM events;

-- name: CAST(NULL AS TEXT)
CREATE STREAM v AS SELECT CAST(NULL AS TEXT) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST(NULL AS STRING) AS a FROM events;

-- name: hashtext(kind)
CREATE STREAM v AS SELECT hashtext(kind) AS a FROM events;
-- refused: N005, HASH(kind)

-- name: crc32(kind::bytea)
CREATE STREAM v AS SELECT crc32(kind::bytea) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CRC32(CAST(kind AS BINARY)) AS a FROM events;

-- name: string_agg(kind, ',')
CREATE STREAM v AS SELECT string_agg(kind, ',') AS a FROM events;
-- refused: W044, GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)

-- name: date(ts)
CREATE STREAM v AS SELECT date(ts) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST(ts AS DATE) AS a FROM events;

-- name: int4(kind)
CREATE STREAM v AS SELECT int4(kind) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST(kind AS INT) AS a FROM events;

-- name: float8(kind)
CREATE STREAM v AS SELECT float8(kind) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST(kind AS DOUBLE) AS a FROM events;

-- name: text(id)
CREATE STREAM v AS SELECT text(id) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST(id AS STRING) AS a FROM events;

-- name: 1_000_000
CREATE STREAM v AS SELECT 1_000_000 AS a FROM events;
-- refused: S007, hint: 1000000

-- name: 0x1F
CREATE STREAM v AS SELECT 0x1F AS a FROM events;
-- refused: S007, hint: 31

-- name: 'a' 'b'
CREATE STREAM v AS SELECT 'a' 'b' AS a FROM events;
-- refused: S001, 'a' || 'b' makes one text of two

-- name: to_char(ts, 'YYYY-MM-DD HH24:MI:SS')
CREATE STREAM v AS SELECT to_char(ts, 'YYYY-MM-DD HH24:MI:SS') AS a FROM events;
-- refused: T006, DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss')

-- name: to_char(ts, 'Day, DD Mon YYYY')
CREATE STREAM v AS SELECT to_char(ts, 'Day, DD Mon YYYY') AS a FROM events;
-- refused: T006, DATE_FORMAT(ts, 'EEEE, dd MMM yyyy')

-- name: kind = ANY(tags)
CREATE STREAM v AS SELECT kind = ANY(tags) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT EXISTS(tags, value -> kind = value) AS a FROM events;

-- name: 3 < ALL(numbers)
CREATE STREAM v AS SELECT 3 < ALL(numbers) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT FORALL(numbers, value -> 3 < value) AS a FROM events;

-- name: 3 >= SOME(numbers)
CREATE STREAM v AS SELECT 3 >= SOME(numbers) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT EXISTS(numbers, value -> 3 >= value) AS a FROM events;

-- name: flag = ANY(ARRAY[TRUE, FALSE])
CREATE STREAM v AS SELECT flag = ANY(ARRAY[TRUE, FALSE]) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT flag IN (TRUE, FALSE) AS a FROM events;

-- name: int8(kind)
CREATE STREAM v AS SELECT int8(kind) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT CAST(kind AS BIGINT) AS a FROM events;

-- name: div(id, 7)
CREATE STREAM v AS SELECT div(id, 7) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT (id DIV 7) AS a FROM events;

-- name: payload::numeric
CREATE STREAM v AS SELECT payload::numeric AS a FROM events;
-- warned: T020, CAST(payload AS DECIMAL(38, 10))
-- same as
CREATE STREAM v AS SELECT CAST(payload AS DECIMAL) AS a FROM events;

-- name: id / 1000
CREATE STREAM v AS SELECT id / 1000 AS a FROM events;
-- warned: T020, id DIV 1000
-- same as
CREATE STREAM v AS SELECT id / 1000 AS a FROM events;

-- name: (epoch / 1000)::int
CREATE STREAM v AS SELECT (epoch / 1000)::int AS a FROM events;
-- warned: T020, epoch DIV 1000
-- same as
CREATE STREAM v AS SELECT CAST((epoch / 1000) AS INT) AS a FROM events;

-- name: ltrim(kind, '0')
CREATE STREAM v AS SELECT ltrim(kind, '0') AS a FROM events;
-- warned: T020, LTRIM('0', kind)
-- same as
CREATE STREAM v AS SELECT LTRIM(kind, '0') AS a FROM events;

-- name: left(kind, -1)
CREATE STREAM v AS SELECT left(kind, -1) AS a FROM events;
-- warned: T020, LEFT(kind, GREATEST(LENGTH(kind) - 1, 0))
-- same as
CREATE STREAM v AS SELECT `LEFT`(kind, -1) AS a FROM events;

-- name: date_part('dow', day)
CREATE STREAM v AS SELECT date_part('dow', day) AS a FROM events;
-- warned: T020, DAYOFWEEK(day)
-- same as
CREATE STREAM v AS SELECT DATE_PART('dow', day) AS a FROM events;

-- name: split(kind, '|')
CREATE STREAM v AS SELECT split(kind, '|') AS a FROM events;
-- warned: T020, SPLIT(kind, '\|')
-- same as
CREATE STREAM v AS SELECT SPLIT(kind, '|') AS a FROM events;

-- name: encode(x'ff', 'hex')
CREATE STREAM v AS SELECT encode(x'ff', 'hex') AS a FROM events;
-- refused: T006, HEX(x'ff')
