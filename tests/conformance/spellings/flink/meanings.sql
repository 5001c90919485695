-- Forms that Penstock accepts, with a warning where they mean something else in Flink.

-- name: ARRAY_SORT
CREATE STREAM v AS SELECT ARRAY_SORT(numbers) AS a FROM events;
-- warned: T020, SORT_ARRAY(numbers)
-- same as
CREATE STREAM v AS SELECT STREAM ARRAY_SORT(numbers) AS a FROM events;

-- name: TO_TIMESTAMP_LTZ with a zone
CREATE STREAM v AS SELECT TO_TIMESTAMP_LTZ(kind, 'yyyy', 'UTC') AS a FROM events;
-- same as
CREATE STREAM v AS SELECT STREAM TO_UTC_TIMESTAMP(TO_TIMESTAMP(kind, 'yyyy'), 'UTC') AS a FROM events;

-- name: the window in each of GROUPING SETS
CREATE STREAM s AS SELECT window_start, window_end, bidder, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
GROUP BY GROUPING SETS ((window_start, window_end, bidder), (window_start, window_end));
-- same as
CREATE STREAM s AS SELECT STREAM window_start, window_end, bidder, SUM(price) AS total FROM bid
GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE), GROUPING SETS ((bidder), ());

-- name: the window in some of GROUPING SETS
CREATE STREAM s AS SELECT window_start, window_end, bidder, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
GROUP BY GROUPING SETS ((window_start, window_end, bidder), (bidder));
-- refused: W016, GROUP BY has the window in front of GROUPING SETS

-- name: a window join of relations in FROM
SELECT STREAM L.auction, R.order_id FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)) L
JOIN TABLE(HOP(TABLE orders, DESCRIPTOR(order_time), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)) R
ON L.auction = R.order_id AND L.window_start = R.window_start AND L.window_end = R.window_end;
-- same as
SELECT STREAM L.auction, R.order_id FROM HOP(bid, bidtime, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE) L
JOIN HOP(orders, order_time, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE) R
ON L.auction = R.order_id AND L.window_start = R.window_start AND L.window_end = R.window_end;

-- name: a window join of rows without their times
SELECT STREAM L.auction FROM (SELECT auction, window_start FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES))) L
JOIN (SELECT order_id, window_start FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '5' MINUTES))) R
ON L.auction = R.order_id AND L.window_start = R.window_start;
-- refused: W001, select it unchanged

-- name: a join of windows that are not compared
SELECT STREAM L.auction FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES)) L
JOIN TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '5' MINUTES)) R ON L.auction = R.order_id;
-- refused: J001

-- name: windowed rows that look up a table
SELECT STREAM o.order_id, o.window_start, u.name
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '5' MINUTES)) o JOIN users u ON u.user_id = o.user_id;
-- same as
SELECT STREAM o.order_id, o.window_start, u.name
FROM (SELECT * FROM TUMBLE(orders, order_time, INTERVAL '5' MINUTE)) o JOIN users u ON u.user_id = o.user_id;

-- name: INSERT of two columns of one name
INSERT INTO alerts SELECT o.user_id, s.carrier, o.user_id FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '4' HOUR;
-- same as
INSERT INTO alerts SELECT STREAM o.user_id, s.carrier, o.user_id AS user_id_ FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '4' HOUR;

-- name: INSERT BY NAME of two columns of one name
INSERT INTO alerts BY NAME SELECT user_id, product, user_id FROM orders;
-- refused: K010, user_id

-- name: CREATE of two columns of one name
CREATE STREAM s AS SELECT user_id, product, user_id FROM orders;
-- refused: K010, AS other_user_id

-- name: GROUP BY without the windows
SELECT bidder, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)) GROUP BY bidder;
-- warned: T020, GROUP BY bidder, window_start, window_end
-- same as
SELECT bidder, COUNT(*) AS n FROM bid GROUP BY bidder, TUMBLE(bidtime, INTERVAL '10' MINUTE);

-- name: GROUP BY the starts of growing windows
SELECT window_start, COUNT(*) AS n FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES, INTERVAL '1' HOUR))
GROUP BY window_start;
-- warned: T020, GROUP BY window_start, window_end
-- same as
SELECT window_start, COUNT(*) AS n FROM bid GROUP BY CUMULATE(bidtime, INTERVAL '10' MINUTE, INTERVAL '1' HOUR);

-- name: GROUP BY windows by other names
SELECT window_start AS ws, window_end AS we, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)) GROUP BY ws, we;
-- same as
SELECT window_start AS ws, window_end AS we, COUNT(*) AS n FROM bid GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE);

-- name: GROUP BY windows by their numbers
SELECT window_start, window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)) GROUP BY 1, 2;
-- same as
SELECT window_start, window_end, COUNT(*) AS n FROM bid GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE);

-- name: an event time of milliseconds
CREATE STREAM f (id INT, ts BIGINT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH (connector = 'files', path = 'f', format = 'json');
-- refused: W013, time AS TIMESTAMP_MILLIS(ts), WATERMARK FOR time AS time - INTERVAL '5' SECOND

-- name: an event time of a quotient
CREATE STREAM f (id INT, ts BIGINT, rt AS TO_TIMESTAMP(FROM_UNIXTIME(ts / 1000)), WATERMARK FOR rt AS rt - INTERVAL '5' SECOND)
WITH (connector = 'files', path = 'f', format = 'json');
-- refused: T006, FROM_UNIXTIME(ts DIV 1000)
