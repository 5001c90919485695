-- Forms of Flink that mean the same here.

-- name: the row time of windows
CREATE STREAM counts AS
SELECT window_time AS rt, product, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '10' MINUTES))
GROUP BY window_start, window_end, window_time, product;
-- same as
CREATE STREAM counts AS
SELECT STREAM window_end - INTERVAL '1' MILLISECOND AS rt, product, COUNT(*) AS n FROM orders
GROUP BY TUMBLE(order_time, INTERVAL '10' MINUTE), product;

-- name: the row time of windows with HAVING
CREATE STREAM totals AS SELECT window_time, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '1' HOUR))
GROUP BY window_time, window_start, window_end HAVING SUM(amount) > 10;
-- same as
CREATE STREAM totals AS SELECT STREAM window_end - INTERVAL '1' MILLISECOND AS window_time, SUM(amount) AS total FROM orders
GROUP BY TUMBLE(order_time, INTERVAL '1' HOUR) HAVING SUM(amount) > 10;

-- name: the row time of rows with their windows
CREATE STREAM rows AS
SELECT order_id, window_time FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '10' MINUTES));
-- refused: N001, window_end - INTERVAL '1' MILLISECOND

-- name: the week of a date
CREATE VIEW v AS SELECT WEEK(day) AS a, QUARTER(day) AS b FROM events;
-- same as
CREATE VIEW v AS SELECT WEEKOFYEAR(day) AS a, QUARTER(day) AS b FROM events;

-- name: BASE64
CREATE VIEW v AS SELECT TO_BASE64(kind) AS a FROM events;
-- same as
CREATE VIEW v AS SELECT BASE64(kind) AS a FROM events;

-- name: the first and the last value of a window
SELECT product, FIRST_VALUE(amount) AS first FROM orders GROUP BY product, TUMBLE(order_time, INTERVAL '1' HOUR);
-- refused: T008, MIN_BY(amount, ROWTIME)

-- name: the last value of a group of rows
SELECT product, LAST_VALUE(amount) AS last FROM orders GROUP BY product;
-- refused: T008, MAX_BY(amount, ROWTIME)

-- name: a set of statements in its older form
BEGIN STATEMENT SET;
INSERT INTO alerts SELECT user_id, product, amount FROM orders WHERE amount > 10;
END;
-- same as
INSERT INTO alerts SELECT user_id, product, amount FROM orders WHERE amount > 10;

-- name: a set of statements that is not closed
EXECUTE STATEMENT SET BEGIN
INSERT INTO alerts SELECT user_id, product, amount FROM orders WHERE amount > 10;
-- refused: S001, leave it out

-- name: windows that slide and begin at an odd time
CREATE STREAM counts AS SELECT window_start, COUNT(*) AS n
FROM TABLE(HOP(DATA => TABLE orders, TIMECOL => DESCRIPTOR(order_time), SLIDE => INTERVAL '5' MINUTES,
  SIZE => INTERVAL '10' MINUTES, `OFFSET` => INTERVAL '2' MINUTES))
GROUP BY window_start, window_end;
-- refused: S026, HOP(TABLE orders, DESCRIPTOR(order_time), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)

-- name: windows without an offset
CREATE STREAM counts AS SELECT window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '10' MINUTES, INTERVAL '0' MINUTES))
GROUP BY window_start, window_end;
-- same as
CREATE STREAM counts AS SELECT STREAM window_start, COUNT(*) AS n FROM orders
GROUP BY TUMBLE(order_time, INTERVAL '10' MINUTE);
