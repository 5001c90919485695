-- What ksqlDB accepts, or refuses in other words, and Penstock refuses.

-- name: a table from a stream without GROUP BY
CREATE TABLE copies AS SELECT * FROM orders EMIT CHANGES;
-- refused: K003

-- name: a stream from a group
CREATE STREAM counts AS SELECT user_id, COUNT(*) AS num FROM orders GROUP BY user_id EMIT CHANGES;
-- refused: K003, CREATE TABLE

-- name: a join on a column that is not the key of the table
CREATE STREAM enriched AS
SELECT o.order_id AS order_id, u.name AS name FROM orders o JOIN users u ON o.product = u.name EMIT CHANGES;
-- refused: J018

-- name: WITHIN beside a table
CREATE STREAM enriched AS
SELECT o.order_id AS order_id, u.name AS name FROM orders o JOIN users u WITHIN 1 HOUR ON o.user_id = u.user_id EMIT CHANGES;
-- refused: W005

-- name: EMIT FINAL without a window
CREATE TABLE counts AS SELECT user_id, COUNT(*) AS num FROM orders GROUP BY user_id EMIT FINAL;
-- refused: W012

-- name: a RIGHT JOIN of a stream with a table
CREATE STREAM enriched AS SELECT o.order_id AS order_id FROM orders o RIGHT JOIN users u ON o.user_id = u.user_id EMIT CHANGES;
-- refused: J011

-- name: an unknown stream
CREATE STREAM copies AS SELECT * FROM ordres EMIT CHANGES;
-- refused: K012, orders

-- name: a window that is empty
CREATE TABLE counts AS SELECT user_id, COUNT(*) AS num FROM orders WINDOW TUMBLING (SIZE 0 SECONDS) GROUP BY user_id EMIT CHANGES;
-- refused: W008
