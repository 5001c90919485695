-- The bound of a join in the forms that Flink users write.

-- name: BETWEEN
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '60' MINUTE;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: BETWEEN of the other side
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND o.order_time BETWEEN s.ship_time - INTERVAL '1' HOUR AND s.ship_time;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: two comparisons
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time >= o.order_time AND s.ship_time <= o.order_time + INTERVAL '1' HOUR;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: two comparisons written backwards
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND o.order_time <= s.ship_time AND o.order_time + INTERVAL '1' HOUR >= s.ship_time;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: an open end
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time >= o.order_time AND o.order_time > s.ship_time - INTERVAL '1' HOUR;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time >= o.order_time AND s.ship_time < o.order_time + INTERVAL '1' HOUR;

-- name: a day to a second
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '0 01:00:00' DAY TO SECOND;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: TIMESTAMPDIFF in seconds
-- TIMESTAMPDIFF drops the fraction of the difference, so the bound is wider by almost a unit on both sides.
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND TIMESTAMPDIFF(SECOND, o.order_time, s.ship_time) BETWEEN 0 AND 3600;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time > o.order_time - INTERVAL '1' SECOND AND s.ship_time < o.order_time + INTERVAL '3601' SECOND;

-- name: TIMESTAMPADD
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND TIMESTAMPADD(HOUR, 1, o.order_time);
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: TIMESTAMPDIFF on one side
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND TIMESTAMPDIFF(HOUR, o.order_time, s.ship_time) < 1;
-- refused: J002

-- name: equal times
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND o.order_time = s.ship_time;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time = o.order_time;

-- name: the bound in WHERE
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id WHERE s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id WHERE s.ship_time >= o.order_time AND s.ship_time <= o.order_time + INTERVAL '1' HOUR;

-- name: a bound of months
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' MONTH;
-- refused: J006

-- name: a bound that never holds
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time + INTERVAL '1' HOUR AND o.order_time;
-- refused: J010

-- name: a bound by the processing time
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN PROCTIME() - INTERVAL '1' HOUR AND PROCTIME();
-- refused: J005

-- name: a bound of other times
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND CURRENT_TIMESTAMP;
-- refused: J005
