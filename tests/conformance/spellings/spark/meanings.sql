-- Forms that Penstock accepts, with a warning where they mean something else in Spark.

-- name: CHARINDEX
CREATE STREAM v AS SELECT CHARINDEX('a', kind) AS a FROM events;
-- same as
CREATE STREAM v AS SELECT STREAM LOCATE('a', kind) AS a FROM events;

-- name: a variable in a text
CREATE STREAM v AS SELECT 'a ${name} b' AS a FROM events;
-- warned: T020, 'a $' || '{name} b'
-- same as
CREATE STREAM v AS SELECT STREAM 'a ${name} b' AS a FROM events;

-- name: the mode of a window
CREATE STREAM s AS SELECT kind, mode(small) AS a FROM events GROUP BY kind, window(ts, '1 hour');
-- same as
CREATE STREAM s AS SELECT STREAM kind, MODE() WITHIN GROUP (ORDER BY small) AS a FROM events GROUP BY kind, TUMBLE(ts, INTERVAL '1' HOUR);

-- name: several percentiles of a window
CREATE STREAM s AS SELECT kind, percentile(small, array(0.25, 0.5)) AS a FROM events GROUP BY kind, window(ts, '1 hour');
-- same as
CREATE STREAM s AS SELECT STREAM kind, PERCENTILE_CONT(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY small) AS a FROM events
GROUP BY kind, TUMBLE(ts, INTERVAL '1' HOUR);
