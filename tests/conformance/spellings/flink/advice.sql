-- What Flink has and Penstock refuses, with the advice that it gives.

-- name: CREATE TABLE t2 (a INT, PRIMARY KEY (a) NOT ENFORCED) WITH
CREATE TABLE t2 (a INT, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h:9092', 'key.format' = 'json', 'value.format' = 'json');
-- refused: C001, connector = 'kafka', key_format = 'json' and a PRIMARY KEY

-- name: CREATE TABLE t2 (id INT, name STRING, PRIMARY KEY (id) NOT
CREATE TABLE t2 (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'jdbc', 'url' = 'jdbc:mysql://localhost:3306/mydatabase', 'table-name' = 'users');
-- refused: C001, connector = 'postgres', 'mysql', 'sqlite' or 'duckdb' of a table

-- name: CREATE TABLE t2 (id INT, db_name STRING METADATA FROM 'dat
CREATE TABLE t2 (id INT, db_name STRING METADATA FROM 'database_name' VIRTUAL, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'mysql-cdc', 'hostname' = 'h', 'port' = '3306', 'username' = 'u', 'password' = 'p', 'database-name' = 'd', 'table-name' = 't');
-- refused: C001, connector = 'kafka' reads changes that another program captures into a topic

-- name: CREATE TABLE t2 WITH ('connector' = 'kafka') LIKE orders (
CREATE TABLE t2 WITH ('connector' = 'kafka') LIKE orders (EXCLUDING ALL INCLUDING GENERATED);
-- refused: S001, leave it out: LIKE takes all columns; list them to take some

-- name: CREATE TABLE t2 LIKE orders
CREATE TABLE t2 LIKE orders;
-- refused: B002, CREATE STREAM t2 LIKE orders

-- name: CREATE TABLE my_ctas (PRIMARY KEY (user_id) NOT ENFORCED)
CREATE TABLE my_ctas (PRIMARY KEY (user_id) NOT ENFORCED) AS SELECT user_id, name FROM users;
-- refused: S001, leave out the list in parentheses: the query gives names, types and the key

-- name: DESCRIBE CATALOG cat
DESCRIBE CATALOG cat;
-- refused: S001, leave it out: names have no catalog, database or schema

-- name: EXPLAIN STATEMENT SET BEGIN INSERT INTO alerts SELECT user
EXPLAIN STATEMENT SET BEGIN INSERT INTO alerts SELECT user_id, product, amount FROM orders; END;
-- refused: S001, EXPLAIN stands before one statement, without a set around it

-- name: DROP TEMPORARY SYSTEM FUNCTION IF EXISTS f
DROP TEMPORARY SYSTEM FUNCTION IF EXISTS f;
-- refused: S001, leave it out: queries run no code of their own; docs/functions.md lists the functions they

-- name: CREATE TEMPORARY SYSTEM FUNCTION f AS 'com.example.F'
CREATE TEMPORARY SYSTEM FUNCTION f AS 'com.example.F';
-- refused: S001, leave it out: queries run no code of their own; docs/functions.md lists the functions they

-- name: SET table.local-time-zone = UTC
SET table.local-time-zone = UTC;
-- refused: S001, leave it out: it sets what belongs to another system; docs/settings.md has the settings o

-- name: SELECT * FROM ML_PREDICT(TABLE orders, MODEL m, DESCRIPTOR
SELECT * FROM ML_PREDICT(TABLE orders, MODEL m, DESCRIPTOR(product));
-- refused: S001, queries call no models: compute the value outside, and join it

-- name: UUID()
CREATE STREAM v AS SELECT UUID() AS a FROM events;
-- refused: N005, a key of the data, or a hash of one: MD5(CONCAT_WS('-', a, b)) is the same after a restart

-- name: RAND()
CREATE STREAM v AS SELECT RAND() AS a FROM events;
-- refused: N005, PMOD(HASH(key), 100) is a number from 0 to 99 that is the same after a restart

-- name: CURRENT_WATERMARK(ts)
CREATE STREAM v AS SELECT CURRENT_WATERMARK(ts) AS a FROM events;
-- refused: N005, LATE INTO late_rows behind a query

-- name: ts - INTERVAL '10' DAY(2)
CREATE STREAM v AS SELECT ts - INTERVAL '10' DAY(2) AS a FROM events;
-- refused: S001, leave out the number of digits: INTERVAL '10' DAY

-- name: TYPEOF(kind, TRUE)
CREATE STREAM v AS SELECT TYPEOF(kind, TRUE) AS a FROM events;
-- refused: T005, TYPEOF(kind)

-- name: ARRAY_SORT(numbers, FALSE)
CREATE STREAM v AS SELECT ARRAY_SORT(numbers, FALSE) AS a FROM events;
-- refused: T005, SORT_ARRAY(numbers, FALSE)

-- name: ARRAY_SORT(numbers, TRUE, TRUE)
CREATE STREAM v AS SELECT ARRAY_SORT(numbers, TRUE, TRUE) AS a FROM events;
-- refused: T005, SORT_ARRAY(numbers, TRUE)

-- name: (ts - ts) DAY
CREATE STREAM v AS SELECT (ts - ts) DAY AS a FROM events;
-- refused: S001, TIMESTAMPDIFF(DAY, a, b) is the time from a to b

-- name: JSON_UNQUOTE(payload)
CREATE STREAM v AS SELECT JSON_UNQUOTE(payload) AS a FROM events;
-- refused: N005, GET_JSON_OBJECT(payload, '$')

-- name: JSON_QUOTE(payload)
CREATE STREAM v AS SELECT JSON_QUOTE(payload) AS a FROM events;
-- refused: N005, TO_JSON(payload)

-- name: the greatest count of each window
SELECT MAX(num) AS maxn, window_start, window_end FROM (SELECT auction, COUNT(*) AS num, window_start, window_end
  FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '2' SECOND, INTERVAL '10' SECOND)) GROUP BY auction, window_start, window_end)
GROUP BY window_start, window_end;
-- refused: B001, SELECT STREAM inside, with window_start AS began, and GROUP BY TUMBLE(began, INTERVAL '2' SECOND)

-- name: windows that are joined by a part of their keys
SELECT P.user_id, P.name FROM (SELECT user_id, page_id AS name, TUMBLE_START(viewtime, INTERVAL '10' SECOND) AS starttime
  FROM pageviews GROUP BY user_id, page_id, TUMBLE(viewtime, INTERVAL '10' SECOND)) P
JOIN (SELECT bidder, TUMBLE_START(bidtime, INTERVAL '10' SECOND) AS starttime FROM bid GROUP BY bidder, TUMBLE(bidtime, INTERVAL '10' SECOND)) A
ON P.user_id = A.bidder AND P.starttime = A.starttime;
-- refused: J018, or SELECT STREAM on both sides

-- name: final rows of windows that are joined by a part of their keys
SELECT STREAM P.user_id, P.name FROM (SELECT STREAM user_id, page_id AS name, TUMBLE_START(viewtime, INTERVAL '10' SECOND) AS starttime
  FROM pageviews GROUP BY user_id, page_id, TUMBLE(viewtime, INTERVAL '10' SECOND)) P
JOIN (SELECT STREAM bidder, TUMBLE_START(bidtime, INTERVAL '10' SECOND) AS starttime FROM bid GROUP BY bidder, TUMBLE(bidtime, INTERVAL '10' SECOND)) A
ON P.user_id = A.bidder AND P.starttime = A.starttime;
-- same as
SELECT STREAM P.user_id, P.name FROM (SELECT STREAM user_id, page_id AS name, window_start AS starttime
  FROM pageviews GROUP BY user_id, page_id, TUMBLE(viewtime, INTERVAL '10' SECOND)) P
JOIN (SELECT STREAM bidder, window_start AS starttime FROM bid GROUP BY bidder, TUMBLE(bidtime, INTERVAL '10' SECOND)) A
ON P.user_id = A.bidder AND P.starttime = A.starttime;
