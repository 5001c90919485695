-- Forms of PostgreSQL that mean the same here.

-- name: a table in part
TABLE users ORDER BY name LIMIT 2;
-- read, same as
SELECT * FROM users ORDER BY name LIMIT 2;

-- name: a bucket whose length is a text
CREATE VIEW v AS SELECT date_bin('15 minutes', ts, TIMESTAMP '2001-01-01 00:00:00') AS a FROM events;
-- same as
CREATE VIEW v AS SELECT date_bin(INTERVAL '15' MINUTE, ts, TIMESTAMP '2001-01-01 00:00:00') AS a FROM events;

-- name: time_bucket with a text
SELECT time_bucket('5 minutes', order_time) AS bucket, COUNT(*) AS n FROM orders GROUP BY bucket;
-- same as
SELECT time_bucket(INTERVAL '5' MINUTE, order_time) AS bucket, COUNT(*) AS n FROM orders GROUP BY bucket;

-- name: bytes in hexadecimal
CREATE VIEW v AS SELECT X'ff' AS a FROM events;
-- same as
CREATE VIEW v AS SELECT UNHEX('ff') AS a FROM events;

-- name: windows of RisingWave
SELECT window_start, window_end, COUNT(*) AS n FROM TUMBLE(orders, order_time, INTERVAL '5 MINUTES')
GROUP BY window_start, window_end;
-- same as
SELECT window_start, window_end, COUNT(*) AS n FROM orders GROUP BY TUMBLE(order_time, INTERVAL '5' MINUTE);

-- name: a window without a frame of its own
CREATE VIEW v AS SELECT LAG(amount) OVER (PARTITION BY user_id ORDER BY order_time ROWS 1 PRECEDING) AS before FROM orders;
-- same as
CREATE VIEW v AS SELECT LAG(amount) OVER (PARTITION BY user_id ORDER BY order_time ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
  AS before FROM orders;

-- name: ISNULL and NOTNULL
CREATE VIEW v AS SELECT id, kind ISNULL AS a FROM events WHERE small + 1 NOTNULL AND ISNULL(flag);
-- same as
CREATE VIEW v AS SELECT id, kind IS NULL AS a FROM events WHERE small + 1 IS NOT NULL AND ISNULL(flag);

-- name: a cast to an array
CREATE VIEW v AS SELECT numbers::TEXT[] AS a, (numbers::BIGINT[])[0] AS b, numbers::BIGINT[][1] AS c FROM events;
-- same as
CREATE VIEW v AS SELECT CAST(numbers AS ARRAY<STRING>) AS a, (CAST(numbers AS ARRAY<BIGINT>))[0] AS b,
  CAST(numbers AS ARRAY<BIGINT>)[1] AS c FROM events;

-- name: a cast to an array of texts
CREATE VIEW v AS SELECT numbers::TEXT[] AS a, CAST(numbers AS BIGINT[]) AS b FROM events;
-- same as
CREATE VIEW v AS SELECT CAST(numbers AS ARRAY<STRING>) AS a, CAST(numbers AS ARRAY<BIGINT>) AS b FROM events;

-- name: a window that says more than the one that it names
CREATE STREAM totals AS SELECT STREAM id,
  SUM(score) OVER (w RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) AS hour,
  COUNT(*) OVER (w RANGE INTERVAL '1' DAY PRECEDING) AS day
FROM events WINDOW w AS (PARTITION BY kind ORDER BY ts);
-- same as
CREATE STREAM totals AS SELECT STREAM id,
  SUM(score) OVER (PARTITION BY kind ORDER BY ts RANGE INTERVAL '1' HOUR PRECEDING) AS hour,
  COUNT(*) OVER (PARTITION BY kind ORDER BY ts RANGE INTERVAL '1' DAY PRECEDING) AS day
FROM events;

-- name: a named window that says more than another one
CREATE STREAM totals AS SELECT STREAM id, SUM(score) OVER hour AS total
FROM events WINDOW w AS (PARTITION BY kind), hour AS (w ORDER BY ts RANGE INTERVAL '1' HOUR PRECEDING);
-- same as
CREATE STREAM totals AS SELECT STREAM id,
  SUM(score) OVER (PARTITION BY kind ORDER BY ts RANGE INTERVAL '1' HOUR PRECEDING) AS total FROM events;

-- name: a window that names one that there is not
CREATE STREAM totals AS SELECT STREAM id, SUM(score) OVER (v RANGE INTERVAL '1' HOUR PRECEDING) AS total
FROM events WINDOW w AS (PARTITION BY kind ORDER BY ts);
-- refused: W024

-- name: a window with another PARTITION BY than the one that it names
CREATE STREAM totals AS SELECT STREAM id, SUM(score) OVER (w PARTITION BY id) AS total
FROM events WINDOW w AS (PARTITION BY kind ORDER BY ts);
-- refused: S026, OVER w

-- name: a window with another ORDER BY than the one that it names
CREATE STREAM totals AS SELECT STREAM id, SUM(score) OVER (w ORDER BY ts) AS total
FROM events WINDOW w AS (PARTITION BY kind ORDER BY ts);
-- refused: S026, OVER w

-- name: SUBSTRING with a pattern
CREATE VIEW v AS SELECT SUBSTRING(kind, 'a(b)') AS a FROM events;
-- refused: S026, NULLIF(REGEXP_EXTRACT(kind, 'a(b)', 1), '')

-- name: SUBSTRING FROM a pattern without a group
CREATE VIEW v AS SELECT SUBSTRING(kind FROM '[0-9]+') AS a FROM events;
-- refused: S026, REGEXP_SUBSTR(kind, '[0-9]+')

-- name: LATERAL of a series
CREATE STREAM numbered AS SELECT STREAM id, n FROM events CROSS JOIN LATERAL GENERATE_SERIES(1, small) AS n;
-- same as
CREATE STREAM numbered AS SELECT STREAM id, n FROM events CROSS JOIN GENERATE_SERIES(1, small) AS n;

-- name: LIMIT ALL
SELECT ALL user_id FROM users ORDER BY user_id LIMIT ALL OFFSET 2;
-- read, same as
SELECT user_id FROM users ORDER BY user_id OFFSET 2;
