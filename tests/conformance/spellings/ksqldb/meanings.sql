-- Forms that Penstock accepts, with a warning where they mean something else in ksqlDB.

-- name: ROUND
CREATE STREAM v AS SELECT id, ROUND(score) AS a FROM events EMIT CHANGES;
-- warned: T020, FLOOR(score + 0.5)
-- same as
CREATE STREAM v AS SELECT STREAM id, ROUND(score) AS a FROM events;

-- name: a variable in a text
CREATE STREAM v AS SELECT id FROM events WHERE kind = '${name}' EMIT CHANGES;
-- warned: T020, '$' || '{name}'
-- same as
CREATE STREAM v AS SELECT STREAM id FROM events WHERE kind = '${name}';

-- name: FROM_UNIXTIME of the start of a window
CREATE TABLE t AS SELECT product, FROM_UNIXTIME(WINDOWSTART) AS ws, COUNT(*) AS n FROM orders
WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY product EMIT CHANGES;
-- warned: T020, TIMESTAMP_MILLIS(WINDOWSTART)
-- same as
CREATE TABLE t AS SELECT product, FROM_UNIXTIME(UNIX_MILLIS(window_start)) AS ws, COUNT(*) AS n FROM orders
GROUP BY product, TUMBLE(order_time, INTERVAL '1' HOUR);

-- name: TOPK with other columns
CREATE TABLE t AS SELECT product, TOPK(amount, user_id, 3) AS x FROM orders GROUP BY product EMIT CHANGES;
-- refused: T005, TOPK(STRUCT(amount, user_id), 3)
