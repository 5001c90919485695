-- Joins of Flink SQL: intervals, versioned tables, lookups, changing tables.

-- name: an interval join
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier
FROM orders o, shipments s
WHERE o.order_id = s.order_id AND o.order_time BETWEEN s.ship_time - INTERVAL '4' HOUR AND s.ship_time;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier
FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND o.order_time BETWEEN s.ship_time - INTERVAL '4' HOUR AND s.ship_time;

-- name: an interval join in ON
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier
FROM orders AS o INNER JOIN shipments AS s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '4' HOURS;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '4' HOUR;

-- name: an interval join without the word STREAM
CREATE STREAM shipped AS
SELECT o.order_id, s.carrier
FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '4' HOUR;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier
FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '4' HOUR;

-- name: a left interval join
CREATE STREAM shipped AS
SELECT o.order_id, s.carrier
FROM orders o LEFT JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time >= o.order_time AND s.ship_time < o.order_time + INTERVAL '1' DAY;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier
FROM orders o LEFT OUTER JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time >= o.order_time AND s.ship_time < o.order_time + INTERVAL '1' DAY;

-- name: a full interval join
CREATE STREAM both_sides AS
SELECT o.order_id, s.carrier
FROM orders o FULL OUTER JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time - INTERVAL '5' MINUTE AND o.order_time + INTERVAL '5' MINUTE;
-- same as
CREATE STREAM both_sides AS
SELECT STREAM o.order_id, s.carrier FROM orders o FULL JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time - INTERVAL '5' MINUTE AND o.order_time + INTERVAL '5' MINUTE;

-- name: a condition beside the interval
CREATE STREAM shipped AS
SELECT o.order_id, s.carrier
FROM orders o, shipments s
WHERE o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '4' HOUR
  AND o.amount > 10;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier
FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '4' HOUR
WHERE o.amount > 10;

-- name: three streams separated by commas
CREATE STREAM done AS
SELECT o.order_id, s.carrier, p.paid
FROM orders o, shipments s, payments p
WHERE o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR
  AND o.order_id = p.order_id AND p.pay_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;
-- same as
CREATE STREAM done AS
SELECT STREAM o.order_id, s.carrier, p.paid
FROM orders o
JOIN shipments s ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR
JOIN payments p ON o.order_id = p.order_id AND p.pay_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: an interval join with USING
CREATE STREAM shipped AS
SELECT order_id, s.carrier
FROM orders o JOIN shipments s USING (order_id)
WHERE s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '4' HOUR;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id AS order_id, s.carrier
FROM orders o JOIN shipments s ON o.order_id = s.order_id
WHERE s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '4' HOUR;

-- name: an interval without one end
CREATE STREAM shipped AS
SELECT o.order_id, s.carrier
FROM orders o JOIN shipments s ON o.order_id = s.order_id AND s.ship_time >= o.order_time;
-- refused: J002

-- name: a regular join of two streams
-- Flink keeps both streams forever.
CREATE STREAM shipped AS
SELECT o.order_id, s.carrier FROM orders o JOIN shipments s ON o.order_id = s.order_id;
-- refused: J001, INTERVAL

-- name: a regular left join of two streams
CREATE STREAM shipped AS
SELECT o.order_id, s.carrier FROM orders o LEFT JOIN shipments s ON o.order_id = s.order_id;
-- refused: J001

-- name: a comma join without a bound
CREATE STREAM shipped AS
SELECT o.order_id, s.carrier FROM orders o, shipments s WHERE o.order_id = s.order_id;
-- refused: J001

-- name: a cross join of two streams
CREATE STREAM pairs AS SELECT o.order_id, s.carrier FROM orders o CROSS JOIN shipments s;
-- refused: J015

-- name: a natural join
CREATE STREAM shipped AS SELECT carrier FROM orders NATURAL JOIN shipments;
-- refused: J022, USING

-- name: a temporal join with a versioned table
CREATE STREAM converted AS
SELECT o.order_id, o.amount * r.rate AS amount
FROM orders AS o
LEFT JOIN rates FOR SYSTEM_TIME AS OF o.order_time ON o.currency = rates.currency;
-- refused: N003

-- name: a temporal join with an alias
CREATE STREAM converted AS
SELECT o.order_id, o.amount * r.rate AS converted
FROM orders AS o
LEFT JOIN rates FOR SYSTEM_TIME AS OF o.order_time AS r ON o.currency = r.currency;
-- same as
CREATE STREAM converted AS
SELECT STREAM o.order_id, o.amount * r.rate AS converted
FROM orders AS o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.order_time AS r ON r.currency = o.currency;

-- name: an inner temporal join
CREATE STREAM converted AS
SELECT STREAM o.order_id, o.amount * rates.rate AS converted
FROM orders AS o
JOIN rates FOR SYSTEM_TIME AS OF o.order_time ON o.currency = rates.currency;
-- same as
CREATE STREAM converted AS
SELECT STREAM o.order_id, o.amount * rates.rate AS converted
FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.order_time AS rates ON rates.currency = o.currency;

-- name: a lookup join
-- A lookup at the processing time is a join with the table as it is.
CREATE STREAM named AS
SELECT o.order_id, c.name
FROM orders AS o
JOIN customers FOR SYSTEM_TIME AS OF PROCTIME() AS c ON o.user_id = c.id;
-- same as
CREATE STREAM named AS
SELECT STREAM o.order_id, c.name FROM orders AS o JOIN customers AS c ON o.user_id = c.id;

-- name: a left lookup join
CREATE STREAM named AS
SELECT o.order_id, c.name, c.region
FROM orders AS o
LEFT JOIN customers FOR SYSTEM_TIME AS OF PROCTIME() AS c ON o.user_id = c.id;
-- same as
CREATE STREAM named AS
SELECT STREAM o.order_id, c.name, c.region FROM orders AS o LEFT JOIN customers AS c ON o.user_id = c.id;

-- name: a lookup join at a column of processing time
-- No stream has such a column here: PROCTIME() stands in its place.
CREATE STREAM named AS
SELECT o.order_id, c.name
FROM orders AS o
JOIN customers FOR SYSTEM_TIME AS OF o.proc_time AS c ON o.user_id = c.id;
-- refused: N001

-- name: a lookup of a table that changes
CREATE STREAM named AS
SELECT o.order_id, u.name FROM orders o JOIN users FOR SYSTEM_TIME AS OF PROCTIME() AS u ON o.user_id = u.user_id;
-- same as
CREATE STREAM named AS SELECT STREAM o.order_id, u.name FROM orders o JOIN users u ON o.user_id = u.user_id;

-- name: a stream beside a table that changes
-- Flink updates the joined rows when the table changes; here a row looks the table up once.
CREATE STREAM named AS
SELECT o.order_id, u.name FROM orders o LEFT JOIN users u ON u.user_id = o.user_id;
-- same as
CREATE STREAM named AS
SELECT STREAM o.order_id, u.name FROM orders o LEFT JOIN users u ON u.user_id = o.user_id;

-- name: a join of two tables
CREATE VIEW balances AS
SELECT u.user_id, u.name, a.balance FROM users AS u JOIN accounts AS a ON u.user_id = a.user_id;
-- same as
CREATE VIEW balances AS
SELECT u.user_id, u.name, a.balance FROM users u INNER JOIN accounts a ON u.user_id = a.user_id;

-- name: two tables with USING
CREATE VIEW balances AS SELECT user_id, name, balance FROM users JOIN accounts USING (user_id);
-- same as
CREATE VIEW balances AS
SELECT users.user_id AS user_id, name, balance FROM users JOIN accounts ON users.user_id = accounts.user_id;

-- name: a full join of tables with USING
CREATE VIEW balances AS SELECT user_id, name, balance FROM users FULL OUTER JOIN accounts USING (user_id);
-- same as
CREATE VIEW balances AS
SELECT COALESCE(users.user_id, accounts.user_id) AS user_id, name, balance
FROM users FULL JOIN accounts ON users.user_id = accounts.user_id;

-- name: the rows without a partner
CREATE STREAM unshipped AS
SELECT o.order_id FROM orders o
WHERE NOT EXISTS (SELECT 1 FROM shipments s WHERE s.order_id = o.order_id);
-- refused: J007

-- name: IN over a stream
CREATE STREAM shipped AS
SELECT order_id FROM orders WHERE order_id IN (SELECT order_id FROM shipments);
-- refused: J007

-- name: IN over a table of a database
CREATE STREAM known AS SELECT order_id FROM orders WHERE user_id IN (SELECT id FROM customers);
-- same as
CREATE STREAM known AS SELECT STREAM order_id FROM orders WHERE user_id IN (SELECT id FROM customers);

-- name: NOT EXISTS over a table of a database
CREATE STREAM unknown AS
SELECT o.order_id FROM orders o WHERE NOT EXISTS (SELECT * FROM customers c WHERE c.id = o.user_id);
-- same as
CREATE STREAM unknown AS
SELECT STREAM o.order_id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM customers c WHERE o.user_id = c.id);

-- name: CURRENT_WATERMARK
-- The watermark belongs to a micro-batch, so a row would differ after a restart.
CREATE STREAM in_time AS SELECT * FROM orders WHERE order_time > CURRENT_WATERMARK(order_time);
-- refused: N005

-- name: rows behind the watermark
CREATE STREAM late AS
SELECT * FROM orders WHERE CURRENT_WATERMARK(order_time) IS NOT NULL AND order_time <= CURRENT_WATERMARK(order_time);
-- refused: N005, LATE INTO
