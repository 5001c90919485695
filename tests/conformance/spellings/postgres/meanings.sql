-- Forms that Penstock accepts, with a warning where they mean something else in PostgreSQL.

-- name: LOG
CREATE STREAM v AS SELECT LOG(score) AS a FROM events;
-- warned: T020, LN(score)
-- same as
CREATE STREAM v AS SELECT STREAM LOG(score) AS a FROM events;

-- name: a cast that rounds
CREATE STREAM v AS SELECT score::int AS a FROM events;
-- warned: T020, ROUND(score)::int
-- same as
CREATE STREAM v AS SELECT STREAM CAST(score AS INT) AS a FROM events;

-- name: a cast of what is rounded
CREATE STREAM v AS SELECT ROUND(score)::int AS a FROM events;
-- same as
CREATE STREAM v AS SELECT STREAM CAST(ROUND(score) AS INT) AS a FROM events;

-- name: days between two dates
CREATE STREAM v AS SELECT day - DATE '2020-01-01' AS a FROM events;
-- warned: T020, DATEDIFF(day, DATE '2020-01-01')
-- same as
CREATE STREAM v AS SELECT STREAM day - DATE '2020-01-01' AS a FROM events;

-- name: SUBSTRING from 0
CREATE STREAM v AS SELECT SUBSTRING(kind FROM 0 FOR 3) AS a FROM events;
-- warned: T020, SUBSTRING(kind, 1, 2)
-- same as
CREATE STREAM v AS SELECT STREAM SUBSTRING(kind, 0, 3) AS a FROM events;

-- name: SUBSTR from a negative place
CREATE STREAM v AS SELECT SUBSTR(kind, -1, 3) AS a FROM events;
-- warned: T020, SUBSTRING(kind, 1, 1)
-- same as
CREATE STREAM v AS SELECT STREAM SUBSTR(kind, -1, 3) AS a FROM events;

-- name: TO_CHAR of a number
CREATE STREAM v AS SELECT TO_CHAR(small, '000') AS a FROM events;
-- warned: T020, LTRIM(TO_CHAR(small, '000'))
-- same as
CREATE STREAM v AS SELECT STREAM TO_CHAR(small, '000') AS a FROM events;

-- name: TO_CHAR of a number without blanks
CREATE STREAM v AS SELECT LTRIM(TO_CHAR(small, '000')) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT STREAM LTRIM(TO_CHAR(small, '000')) AS a FROM events;

-- name: SHA256 of bytes
CREATE STREAM v AS SELECT SHA256(kind::bytea) AS a FROM events;
-- warned: T020, UNHEX(SHA256(kind::bytea))
-- same as
CREATE STREAM v AS SELECT STREAM SHA2(CAST(kind AS BINARY), 256) AS a FROM events;

-- name: a group in a replacement
CREATE STREAM v AS SELECT REGEXP_REPLACE(kind, '(a)', '\1b') AS a FROM events;
-- warned: T020, '$1b'
-- same as
CREATE STREAM v AS SELECT STREAM REGEXP_REPLACE(kind, '(a)', '\1b') AS a FROM events;

-- name: UNNEST without an alias
CREATE STREAM v AS SELECT id, UNNEST(tags) FROM events;
-- same as
CREATE STREAM v AS SELECT STREAM id, EXPLODE(tags) AS unnest FROM events;

-- name: a cast to CHAR
CREATE STREAM v AS SELECT kind::char AS a FROM events;
-- warned: T020, LEFT(kind, 1)
-- same as
CREATE STREAM v AS SELECT STREAM CAST(kind AS STRING) AS a FROM events;

-- name: a name for a star
SELECT STREAM o.* x FROM orders o;
-- refused: S026, o.*, x

-- name: IS TRUE behind a comparison
CREATE STREAM v AS SELECT kind = 'a' IS TRUE AS a FROM events;
-- refused: S001, put the comparison in parentheses
