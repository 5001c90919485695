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
