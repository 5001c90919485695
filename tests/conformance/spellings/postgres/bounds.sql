-- The bound of a join in the forms that PostgreSQL users write.

-- name: an interval in quotes
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1 hour';
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: an interval of two units
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '30 minutes 1800 seconds';
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: a sum of intervals
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '30' MINUTE + INTERVAL '30' MINUTE;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: the interval first
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND INTERVAL '1' HOUR + o.order_time;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: BETWEEN SYMMETRIC
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN SYMMETRIC o.order_time + INTERVAL '1' HOUR AND o.order_time;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: EXTRACT of the difference
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND EXTRACT(EPOCH FROM s.ship_time - o.order_time) BETWEEN 0 AND 3600;
-- refused: S026

-- name: date_trunc of days
-- Times of one day are less than a day apart.
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND date_trunc('day', s.ship_time) = date_trunc('day', o.order_time);
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND date_trunc('day', s.ship_time) = date_trunc('day', o.order_time) AND s.ship_time > o.order_time - INTERVAL '1' DAY AND s.ship_time < o.order_time + INTERVAL '1' DAY;

-- name: row values in the bound
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON (o.order_id, o.order_time) = (s.order_id, s.ship_time);
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND o.order_time = s.ship_time;

-- name: both sides shifted
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time - INTERVAL '1' HOUR <= o.order_time AND s.ship_time + INTERVAL '1' HOUR >= o.order_time + INTERVAL '1' HOUR;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: a bound through CASE
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time < CASE WHEN o.amount > 10 THEN o.order_time + INTERVAL '1' HOUR ELSE o.order_time END AND s.ship_time > o.order_time;
-- refused: J006
