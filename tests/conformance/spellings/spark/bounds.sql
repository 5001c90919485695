-- The bound of a join in the forms that Spark users write.

-- name: NOT over a comparison
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND NOT s.ship_time < o.order_time AND NOT s.ship_time > o.order_time + INTERVAL 1 HOUR;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: NOT over OR
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND NOT (s.ship_time < o.order_time OR s.ship_time > o.order_time + INTERVAL 1 HOUR);
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: NOT over NOT BETWEEN
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND NOT (s.ship_time NOT BETWEEN o.order_time AND o.order_time + INTERVAL 1 HOUR);
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: a difference of times
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time - o.order_time BETWEEN INTERVAL 0 SECONDS AND INTERVAL 1 HOUR;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: a difference of milliseconds
-- UNIX_MILLIS drops microseconds, so the times themselves may be almost a millisecond further apart.
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND UNIX_MILLIS(s.ship_time) - UNIX_MILLIS(o.order_time) BETWEEN 0 AND 3600000;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND UNIX_MILLIS(s.ship_time) - UNIX_MILLIS(o.order_time) BETWEEN 0 AND 3600000 AND s.ship_time > o.order_time - INTERVAL '1' MILLISECOND AND s.ship_time < o.order_time + INTERVAL '3600001' MILLISECOND;

-- name: a difference of microseconds
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND UNIX_MICROS(s.ship_time) - UNIX_MICROS(o.order_time) BETWEEN 0 AND 3600000000;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: a difference of seconds
-- UNIX_TIMESTAMP drops the fraction, so the times themselves may be almost a second further apart.
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND UNIX_TIMESTAMP(s.ship_time) - UNIX_TIMESTAMP(o.order_time) BETWEEN 0 AND 3600;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND UNIX_TIMESTAMP(s.ship_time) - UNIX_TIMESTAMP(o.order_time) BETWEEN 0 AND 3600 AND s.ship_time > o.order_time - INTERVAL '1' SECOND AND s.ship_time < o.order_time + INTERVAL '3601' SECOND;

-- name: an absolute difference
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND ABS(UNIX_MICROS(s.ship_time) - UNIX_MICROS(o.order_time)) <= 3600000000;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time - INTERVAL '1' HOUR AND o.order_time + INTERVAL '1' HOUR;

-- name: timestampdiff in minutes
-- A difference in minutes drops the seconds, on both sides of zero.
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND timestampdiff(MINUTE, o.order_time, s.ship_time) BETWEEN 0 AND 59;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time > o.order_time - INTERVAL '1' MINUTE AND s.ship_time < o.order_time + INTERVAL '1' HOUR;

-- name: the same hour
-- Times of one hour are less than an hour apart.
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND date_trunc('HOUR', s.ship_time) = date_trunc('HOUR', o.order_time);
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND DATE_TRUNC('HOUR', s.ship_time) = DATE_TRUNC('HOUR', o.order_time) AND s.ship_time > o.order_time - INTERVAL '1' HOUR AND s.ship_time < o.order_time + INTERVAL '1' HOUR;

-- name: the same day
-- Times of one day are less than a day apart: all days have 24 hours in UTC.
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND CAST(s.ship_time AS DATE) = CAST(o.order_time AS DATE);
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND CAST(s.ship_time AS DATE) = CAST(o.order_time AS DATE) AND s.ship_time > o.order_time - INTERVAL '1' DAY AND s.ship_time < o.order_time + INTERVAL '1' DAY;

-- name: a bound under OR
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND (s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL 1 HOUR OR s.cost > 100);
-- refused: J003

-- name: two bounds under OR
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND (s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL 1 HOUR OR s.ship_time BETWEEN o.order_time + INTERVAL 2 HOURS AND o.order_time + INTERVAL 3 HOURS);
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND (s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL 1 HOUR OR s.ship_time BETWEEN o.order_time + INTERVAL 2 HOURS AND o.order_time + INTERVAL 3 HOURS) AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL 3 HOURS;

-- name: a bound of columns that are not the times
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.cost BETWEEN o.amount AND o.amount + 10;
-- refused: J001

-- name: one comparison
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time <= o.order_time + INTERVAL 1 HOUR;
-- refused: J002
