-- What Flink's users write, and what the refusal says to write instead.

-- name: the last row of a key
CREATE STREAM x AS SELECT auction, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY bidtime DESC) AS n FROM bid) WHERE n <= 1;
-- refused: W021, GROUP BY bidder, auction, and MAX_BY(value, bidtime) for

-- name: the last row of a key, as a table
-- What the hint of the refusal says.
CREATE TABLE x AS SELECT bidder, auction, MAX_BY(price, bidtime) AS price FROM bid GROUP BY bidder, auction;
-- same as
CREATE TABLE x AS SELECT bidder, auction, MAX_BY(price, ROWTIME) AS price FROM bid GROUP BY bidder, auction;

-- name: the greatest rows of a key
CREATE STREAM x AS SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS n FROM bid) WHERE n <= 10;
-- refused: W021, PARTITION BY window_start, window_end, auction, and FROM

-- name: the greatest rows of all
CREATE STREAM x AS SELECT * FROM (SELECT *, RANK() OVER (ORDER BY price DESC, bidtime) AS n FROM bid) WHERE n <= 10;
-- refused: W021, PARTITION BY window_start, window_end, and FROM TUMBLE(…,

-- name: a stream beside its windows
CREATE STREAM x AS SELECT b.auction FROM bid b JOIN (SELECT MAX(price) AS most, window_end AS ended FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' SECOND)) GROUP BY window_start, window_end) w ON b.price = w.most WHERE b.bidtime BETWEEN w.ended - INTERVAL '10' SECOND AND w.ended;
-- refused: J011, allowed here: LEFT; SELECT STREAM of w in a subquery makes

-- name: a table of a database at an event time
CREATE STREAM x AS SELECT o.order_id, c.name FROM orders AS o JOIN customers FOR SYSTEM_TIME AS OF o.order_time AS c ON o.user_id = c.id;
-- refused: J019, FOR SYSTEM_TIME AS OF PROCTIME() looks a row up as it is

-- name: a table without event times at an event time
CREATE STREAM x AS SELECT o.order_id, u.name FROM orders AS o JOIN users FOR SYSTEM_TIME AS OF o.order_time AS u ON o.user_id = u.user_id;
-- refused: J019, WATERMARK FOR changed AS changed in its declaration; FOR

-- name: a function of a temporal table
CREATE STREAM x AS SELECT o.order_id, r.rate FROM orders AS o, LATERAL TABLE (Rates(o.order_time)) AS r WHERE r.currency = o.currency;
-- refused: S026, CROSS JOIN UNNEST(array)

-- name: EXPLAIN PLAN FOR a query of a stream
EXPLAIN PLAN FOR SELECT user_id FROM orders;
-- refused: K002, SELECT STREAM, or GROUP BY a key for a table

-- name: TRUNCATE to digits
CREATE STREAM x AS SELECT STREAM TRUNCATE(score, 2) AS a FROM events;
-- refused: N005, SIGN(score) * FLOOR(ABS(score) * POWER(10, 2)) / POWER(10,

-- name: ELEMENT
CREATE STREAM x AS SELECT STREAM ELEMENT(tags) AS a FROM events;
-- refused: N005, GET(tags, 0)

-- name: LISTAGG without a separator
CREATE STREAM x AS SELECT STREAM LISTAGG(kind) AS a FROM events GROUP BY TUMBLE(ts, INTERVAL '1' HOUR);
-- refused: T005, LISTAGG(kind, ',')

-- name: a difference of times with its unit
CREATE STREAM x AS SELECT STREAM (ts - ts) DAY TO SECOND AS a FROM events;
-- refused: S001, TIMESTAMPDIFF(SECOND, a, b) is the time from a to b; a

-- name: an option of Flink
SET 'table.exec.state.ttl' = '1 h';
-- refused: C007, leave it out: it sets what belongs to another system

-- name: an option of Flink without quotes
SET table.exec.mini-batch.enabled = true;
-- refused: S001, leave it out: it sets what belongs to another system;

-- name: DESCRIBE JOB
DESCRIBE JOB 'abc';
-- refused: S001, SHOW QUERIES names the queries that run

-- name: REPLACE TABLE
REPLACE TABLE r AS SELECT user_id, SUM(amount) AS s FROM orders GROUP BY user_id;
-- refused: S001, CREATE OR REPLACE TABLE r

-- name: microseconds since 1970
CREATE STREAM x AS SELECT STREAM TO_TIMESTAMP_LTZ(epoch, 6) AS a FROM events;
-- same as
CREATE STREAM x AS SELECT STREAM TIMESTAMP_MICROS(epoch) AS a FROM events;

-- name: CHAR with a length
CREATE STREAM x AS SELECT STREAM CAST(id AS VARCHAR(20)) AS a FROM events;
-- refused: T009, STRING, and SUBSTRING(text, 1, 20) for its first characters
