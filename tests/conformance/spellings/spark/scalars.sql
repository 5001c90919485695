-- Expressions of Spark SQL. Most of them are those of Penstock.

-- name: a cast with colons
CREATE VIEW v AS SELECT id::STRING AS a, kind::INT + 1 AS b FROM events;
-- same as
CREATE VIEW v AS SELECT CAST(id AS STRING) AS a, CAST(kind AS INT) + 1 AS b FROM events;

-- name: TRY_CAST
CREATE VIEW v AS SELECT TRY_CAST(kind AS INT) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT TRY_CAST(kind AS INT) AS a FROM events;

-- name: intervals of every form
CREATE VIEW v AS
SELECT ts + INTERVAL 5 MINUTES AS a, ts + INTERVAL '5' MINUTE AS b, ts + INTERVAL '5 minutes' AS c FROM events;
-- same as
CREATE VIEW v AS
SELECT ts + INTERVAL '5' MINUTE AS a, ts + INTERVAL '5' MINUTE AS b, ts + INTERVAL '5' MINUTE AS c FROM events;

-- name: an interval of several units
CREATE VIEW v AS SELECT ts + INTERVAL '1 hour 30 minutes' AS a, ts + INTERVAL 1 HOUR 30 MINUTES AS b FROM events;
-- same as
CREATE VIEW v AS SELECT ts + INTERVAL '90' MINUTE AS a, ts + INTERVAL '90' MINUTE AS b FROM events;

-- name: an interval of a day to a second
CREATE VIEW v AS SELECT ts + INTERVAL '1 02:03:04' DAY TO SECOND AS a FROM events;
-- same as
CREATE VIEW v AS SELECT ts + INTERVAL '93784' SECOND AS a FROM events;

-- name: current times without parentheses
CREATE VIEW v AS SELECT current_timestamp AS a, current_date AS b FROM events;
-- same as
CREATE VIEW v AS SELECT CURRENT_TIMESTAMP() AS a, CURRENT_DATE() AS b FROM events;

-- name: EXTRACT
CREATE VIEW v AS SELECT EXTRACT(YEAR FROM ts) AS a, EXTRACT(HOUR FROM ts) AS b FROM events;
-- same as
CREATE VIEW v AS SELECT DATE_PART('YEAR', ts) AS a, DATE_PART('HOUR', ts) AS b FROM events;

-- name: EXTRACT of a second
-- EXTRACT gives seconds with their fraction, SECOND whole ones.
CREATE VIEW v AS SELECT EXTRACT(SECOND FROM ts) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT DATE_PART('SECOND', ts) AS a FROM events;

-- name: date_trunc
CREATE VIEW v AS SELECT date_trunc('hour', ts) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT DATE_TRUNC('hour', ts) AS a FROM events;

-- name: timestampdiff
CREATE VIEW v AS SELECT TIMESTAMPDIFF(MINUTE, ts, current_timestamp()) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT TIMESTAMPDIFF(MINUTE, ts, CURRENT_TIMESTAMP()) AS a FROM events;

-- name: dateadd with a unit
CREATE VIEW v AS SELECT DATEADD(HOUR, 3, ts) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT ts + INTERVAL '3' HOUR AS a FROM events;

-- name: an element and a field
CREATE VIEW v AS SELECT tags[0] AS a, props['k'] AS b, address.city AS c FROM events;
-- same as
CREATE VIEW v AS SELECT tags[0] AS a, props['k'] AS b, address.city AS c FROM events;

-- name: RLIKE and REGEXP
CREATE VIEW v AS SELECT kind RLIKE '^a' AS a, kind REGEXP 'b$' AS b FROM events;
-- same as
CREATE VIEW v AS SELECT kind RLIKE '^a' AS a, kind RLIKE 'b$' AS b FROM events;

-- name: LIKE with an escape
CREATE VIEW v AS SELECT kind LIKE 'a!%%' ESCAPE '!' AS a FROM events;
-- same as
CREATE VIEW v AS SELECT kind LIKE 'a\%%' AS a FROM events;

-- name: LIKE ANY
CREATE VIEW v AS SELECT kind LIKE ANY ('a%', 'b%') AS a FROM events;
-- same as
CREATE VIEW v AS SELECT (kind LIKE 'a%' OR kind LIKE 'b%') AS a FROM events;

-- name: a double-quoted string
-- Quotes of this kind are around names, as in Spark with spark.sql.ansi.doubleQuotedIdentifiers.
CREATE VIEW v AS SELECT kind = "a" AS a FROM events;
-- refused: N001

-- name: equality that knows NULL
CREATE VIEW v AS SELECT kind <=> payload AS a FROM events;
-- same as
CREATE VIEW v AS SELECT kind IS NOT DISTINCT FROM payload AS a FROM events;

-- name: FROM_JSON
CREATE VIEW v AS SELECT FROM_JSON(payload, 'a INT').a AS a FROM events;
-- same as
CREATE VIEW v AS SELECT FROM_JSON(payload, 'STRUCT<a: INT>').a AS a FROM events;

-- name: higher-order functions
CREATE VIEW v AS
SELECT transform(numbers, x -> x + 1) AS a, filter(numbers, x -> x > 1) AS b, exists(numbers, x -> x = 3) AS c FROM events;
-- same as
CREATE VIEW v AS
SELECT TRANSFORM(numbers, x -> x + 1) AS a, FILTER(numbers, x -> x > 1) AS b, EXISTS(numbers, x -> x = 3) AS c FROM events;

-- name: count_if and FILTER
CREATE VIEW v AS
SELECT kind, count_if(score > 1) AS a, COUNT(*) FILTER (WHERE score > 1) AS b FROM events GROUP BY kind;
-- same as
CREATE VIEW v AS
SELECT kind, COUNT_IF(score > 1) AS a, COUNT(*) FILTER (WHERE score > 1) AS b FROM events GROUP BY kind;

-- name: text beside a number
-- Spark casts the text in a comparison, and fails if it is no number.
CREATE VIEW v AS SELECT kind = 3 AS a, kind || 3 AS b FROM events;
-- same as
CREATE VIEW v AS SELECT CAST(kind AS BIGINT) = 3 AS a, kind || CAST(3 AS STRING) AS b FROM events;

-- name: random values
CREATE VIEW v AS SELECT rand() AS a, uuid() AS b FROM events;
-- refused: N005

-- name: the file of a row
CREATE VIEW v AS SELECT input_file_name() AS a FROM events;
-- refused: N005

-- name: typed literals
CREATE VIEW v AS SELECT id > 10L AS a, score > 1.5D AS b, small > 3S AS c FROM events;
-- same as
CREATE VIEW v AS SELECT id > CAST(10 AS BIGINT) AS a, score > CAST(1.5 AS DOUBLE) AS b, small > CAST(3 AS SMALLINT) AS c FROM events;

-- name: a raw string
CREATE VIEW v AS SELECT kind RLIKE r'\d+' AS a FROM events;
-- same as
CREATE VIEW v AS SELECT kind RLIKE '\d+' AS a FROM events;

-- name: two backslashes in a regular expression
CREATE STREAM a AS SELECT id, kind RLIKE '\\d+' AS digits FROM events;
-- warned: T020, r'\d+'
-- same as
CREATE STREAM a AS SELECT STREAM id, kind RLIKE r'\\d+' AS digits FROM events;

-- name: an end of line in a text
CREATE STREAM a AS SELECT id, kind || '\n' AS line FROM events;
-- warned: T020, CHR(10)
-- same as
CREATE STREAM a AS SELECT STREAM id, kind || r'\n' AS line FROM events;

-- name: escapes that mean the same in a pattern of LIKE
CREATE STREAM a AS SELECT id, kind LIKE '50\%' AS half, kind RLIKE r'\d' AS digit FROM events;
-- same as
CREATE STREAM a AS SELECT STREAM id, kind LIKE '50\%' AS half, kind RLIKE '\d' AS digit FROM events;
