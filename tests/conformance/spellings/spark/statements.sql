-- Statements that Spark's users write and Penstock does not have.

-- name: CREATE OR REFRESH STREAMING TABLE
CREATE OR REFRESH STREAMING TABLE silver AS SELECT * FROM STREAM(orders);
-- refused: S001, CREATE STREAM silver AS SELECT STREAM makes a

-- name: CREATE OR REFRESH STREAMING TABLE 2
CREATE OR REFRESH STREAMING TABLE silver AS SELECT * FROM STREAM orders;
-- refused: S001, CREATE STREAM silver AS SELECT STREAM makes a

-- name: CREATE OR REFRESH MATERIALIZED VIEW
CREATE OR REFRESH MATERIALIZED VIEW mv AS SELECT user_id, SUM(amount) AS s FROM orders GROUP BY user_id;
-- refused: S001, CREATE TABLE mv AS SELECT keeps the result of a

-- name: CREATE STREAMING TABLE t CONSTRAINT
CREATE STREAMING TABLE t (CONSTRAINT ok EXPECT (amount > 0) ON VIOLATION DROP ROW) AS SELECT * FROM STREAM orders;
-- refused: S001, CREATE STREAM t AS SELECT STREAM makes a stream

-- name: CREATE STREAMING LIVE TABLE t
CREATE STREAMING LIVE TABLE t AS SELECT * FROM STREAM(LIVE.orders);
-- refused: S001, CREATE STREAM t AS SELECT STREAM makes a stream

-- name: APPLY CHANGES INTO LIVE t
APPLY CHANGES INTO LIVE.t FROM STREAM(orders) KEYS (order_id) SEQUENCE BY order_time;
-- refused: S001, CREATE TABLE with a key takes changes; its

-- name: CREATE FLOW f AS AUTO
CREATE FLOW f AS AUTO CDC INTO t FROM STREAM orders KEYS (order_id) SEQUENCE BY order_time STORED AS SCD TYPE 1;
-- refused: S001, INSERT INTO writes the rows of a query to what

-- name: CREATE FLOW f AS INSERT
CREATE FLOW f AS INSERT INTO alerts BY NAME SELECT user_id, product, amount FROM STREAM orders;
-- refused: S001, INSERT INTO writes the rows of a query to what

-- name: id inline array struct 1
CREATE STREAM x AS SELECT STREAM id, inline(array(struct(1 AS a, 2 AS b))) FROM events;
-- same as
CREATE STREAM x AS SELECT STREAM id, INLINE(ARRAY(NAMED_STRUCT('a', 1, 'b', 2))) FROM events;

-- name: id t pos t col
CREATE STREAM x AS SELECT STREAM id, t.pos, t.col FROM events, LATERAL posexplode(tags) AS t;
-- same as
CREATE STREAM x AS SELECT STREAM id, t.pos, t.col FROM events LATERAL VIEW POSEXPLODE(tags) t;

-- name: id t FROM events LATERAL
CREATE STREAM x AS SELECT STREAM id, t.* FROM events, LATERAL (SELECT id + 1 AS j) t;
-- refused: S001, computed in the SELECT list, or in a

-- name: from_json payload INT FROM events
CREATE STREAM x AS SELECT STREAM from_json(payload, 'INT') FROM events;
-- refused: T014, 'a INT, b ARRAY<STRING>'

-- name: payload a b int FROM
CREATE STREAM x AS SELECT STREAM payload:a.b::int FROM events;
-- refused: S001, GET_JSON_OBJECT(payload, '$.a.b')

-- name: id lag score OVER PARTITION
CREATE STREAM x AS SELECT STREAM id, lag(score) OVER (PARTITION BY kind ORDER BY ts), lead(score) OVER (PARTITION BY kind ORDER BY ts) FROM events;
-- refused: W022, ORDER BY ts RANGE BETWEEN CURRENT ROW AND INTERVAL '10' MINUTE FOLLOWING

-- name: id last_value score IGNORE NULLS
CREATE STREAM x AS SELECT STREAM id, last_value(score) IGNORE NULLS OVER (PARTITION BY kind ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM events;
-- refused: S001, MAX_BY(value, time) FILTER (WHERE value IS NOT

-- name: id ntile 4 OVER PARTITION
CREATE STREAM x AS SELECT STREAM id, ntile(4) OVER (PARTITION BY kind ORDER BY ts) FROM events;
-- refused: W022, ORDER BY ts RANGE INTERVAL '10' MINUTE PRECEDING

-- name: kind max_by score ts min_by
CREATE TABLE x AS SELECT kind, max_by(score, ts), min_by(score, ts), first(score), any_value(score), mode(kind), median(score) FROM events GROUP BY kind, window(ts, '1 hour');
-- refused: T008, MIN_BY(score, ROWTIME) beside GROUP BY, or

-- name: kind sum score FROM events
CREATE TABLE x AS SELECT kind, sum(score) FROM events GROUP BY kind WITH ROLLUP;
-- same as
CREATE TABLE x AS SELECT kind, SUM(score), GROUPING_ID() AS grouping_id FROM events GROUP BY ROLLUP (kind);

-- name: kind flag grouping kind grouping_id
CREATE TABLE x AS SELECT kind, flag, grouping(kind), grouping_id(kind, flag), sum(id) FROM events GROUP BY ROLLUP(kind, flag);
-- same as
CREATE TABLE x AS SELECT kind, flag, GROUPING(kind), GROUPING_ID(), SUM(id) FROM events GROUP BY ROLLUP (kind, flag);

-- name: kind flag sum id FROM
CREATE TABLE x AS SELECT kind, flag, sum(id) FROM events GROUP BY kind, flag GROUPING SETS ((kind), (flag));
-- same as
CREATE TABLE x AS SELECT kind, flag, SUM(id), GROUPING_ID() AS grouping_id FROM events
GROUP BY GROUPING SETS ((kind), (flag));

-- name: REPLACE upper kind AS kind
CREATE STREAM x AS SELECT STREAM * REPLACE (upper(kind) AS kind) FROM events;
-- refused: S001, name the column anew: SELECT * EXCEPT (a),

-- name: id 1 id 1 id
CREATE STREAM x AS SELECT STREAM id << 1, id >> 1, id >>> 1, shiftleft(id, 1) FROM events;
-- refused: S001, SHIFTLEFT(value, bits)

-- name: if flag 1 2 iff
CREATE STREAM x AS SELECT STREAM if(flag, 1, 2), iff(flag, 1, 2), nvl(kind, 'a'), nvl2(kind, 1, 2), decode(kind, 'a', 1, 2), coalesce(kind, 'a'), ifnull(kind, 'b'), nullif(kind, 'a'), nanvl(score, 0D), zeroifnull(id), nullifzero(id) FROM events;
-- refused: N004, IF(flag, 1, 2)

-- name: CREATE TEMPORARY VIEW tv USING
CREATE TEMPORARY VIEW tv USING csv OPTIONS (path 'x');
-- refused: S001, WITH (connector = 'files', path = 'folder',

-- name: CREATE TABLE csvt USING csv
CREATE TABLE csvt USING csv OPTIONS (header 'true') LOCATION '/x' AS SELECT * FROM users;
-- refused: S001, WITH (connector = 'files', path = 'folder',

-- name: INSERT INTO TABLE alerts PARTITION
INSERT INTO TABLE alerts PARTITION (d = '1') SELECT user_id, product, amount FROM orders;
-- refused: S001, leave out PARTITION: select the column as any

-- name: INSERT OVERWRITE TABLE alerts SELECT
INSERT OVERWRITE TABLE alerts SELECT user_id, product, amount FROM orders;
-- refused: S001, INSERT INTO alerts: a table is replaced row by

-- name: SHOW PARTITIONS users
SHOW PARTITIONS users;
-- refused: S001, EXPLAIN PARTITIONS before a query

-- name: SHOW DATABASES
SHOW DATABASES;
-- refused: S001, SHOW STREAMS, SHOW TABLES, SHOW VIEWS, SHOW

-- name: SHOW TBLPROPERTIES users
SHOW TBLPROPERTIES users;
-- refused: S001, SHOW CREATE TABLE users

-- name: SHOW TABLE EXTENDED LIKE a
SHOW TABLE EXTENDED LIKE 'a*';
-- refused: S001, DESCRIBE EXTENDED before the name

-- name: SHOW TABLES LIKE a
SHOW TABLES LIKE 'a*';
-- refused: S001, SHOW TABLES by itself lists them all

-- name: SHOW FUNCTIONS LIKE a
SHOW FUNCTIONS LIKE 'a*';
-- refused: S001, SHOW FUNCTIONS by itself lists them all

-- name: DESCRIBE FUNCTION sum
DESCRIBE FUNCTION sum;
-- refused: S001, docs/functions.md describes each function; SHOW

-- name: DESCRIBE HISTORY users
DESCRIBE HISTORY users;
-- refused: S001, DESCRIBE users shows what there is

-- name: DESC QUERY SELECT FROM users
DESC QUERY SELECT * FROM users;
-- refused: S001, EXPLAIN PLAN before the query shows its columns

-- name: REFRESH TABLE users
REFRESH TABLE users;
-- refused: S001, leave it out: nothing is maintained by hand

-- name: UNCACHE TABLE users
UNCACHE TABLE users;
-- refused: S001, leave it out: nothing is maintained by hand

-- name: MSCK REPAIR TABLE users
MSCK REPAIR TABLE users;
-- refused: S001, leave it out: nothing is maintained by hand

-- name: OPTIMIZE users ZORDER BY user_id
OPTIMIZE users ZORDER BY (user_id);
-- refused: S001, leave it out: nothing is maintained by hand

-- name: VACUUM users RETAIN 100 HOURS
VACUUM users RETAIN 100 HOURS;
-- refused: S001, leave it out: nothing is maintained by hand

-- name: SET TIME ZONE UTC
SET TIME ZONE 'UTC';
-- refused: S001, leave it out: times are UTC;

-- name: DECLARE VARIABLE v INT DEFAULT
DECLARE VARIABLE v INT DEFAULT 1;
-- refused: S001, the shell that calls penstock has variables

-- name: SET VAR v 2
SET VAR v = 2;
-- refused: S001, the shell that calls penstock has variables

-- name: EXECUTE IMMEDIATE SELECT 1
EXECUTE IMMEDIATE 'SELECT 1';
-- refused: S001, write the statement itself

-- name: CREATE FUNCTION f x INT
CREATE FUNCTION f(x INT) RETURNS INT RETURN x + 1;
-- refused: S001, leave it out: queries run no code of their own;

-- name: CREATE TEMPORARY MACRO m x
CREATE TEMPORARY MACRO m(x INT) x + 1;
-- refused: S001, leave it out: queries run no code of their own;

-- name: FROM read_files x format json
CREATE STREAM x AS SELECT STREAM * FROM read_files('/x', format => 'json');
-- refused: S001, CREATE STREAM with connector = 'files' declares

-- name: FROM STREAM read_files x format
CREATE STREAM x AS SELECT STREAM * FROM STREAM read_files('/x', format => 'json');
-- refused: S001, CREATE STREAM with connector = 'files' declares

-- name: FROM json x
CREATE STREAM x AS SELECT STREAM * FROM json.`/x`;
-- refused: S001, names have no catalog, database or schema;

-- name: FROM read_kafka bootstrapServers x subscribe
CREATE STREAM x AS SELECT STREAM * FROM read_kafka(bootstrapServers => 'x', subscribe => 't');
-- refused: S015, the functions in FROM are TUMBLE, HOP, CUMULATE

-- name: FROM orders WATERMARK order_time DELAY
CREATE STREAM x AS SELECT STREAM * FROM orders WATERMARK order_time DELAY OF INTERVAL 5 MINUTES;
-- refused: B002, the declaration of the stream has it: WATERMARK

-- name: FROM orders UNPIVOT v FOR
CREATE STREAM x AS SELECT STREAM * FROM orders UNPIVOT (v FOR n IN (amount, quantity));
-- refused: S001, CROSS JOIN UNNEST(ARRAY[STRUCT('a' AS name, a

-- name: CREATE STREAM x AS FROM
CREATE STREAM x AS FROM orders |> WHERE amount > 1 |> SELECT user_id, amount;
-- refused: S001, a query begins with SELECT: SELECT STREAM *

-- name: SELECT u name SELECT max
SELECT u.name, (SELECT max(balance) FROM accounts a WHERE a.user_id = u.user_id) FROM users u;
-- read, refused: B002, JOIN (SELECT max(balance) FROM accounts a WHERE

-- name: SELECT FROM users WHERE user_id
SELECT * FROM users WHERE user_id IN (SELECT user_id FROM accounts WHERE balance > 1);
-- read, refused: B002, LEFT SEMI JOIN (SELECT user_id FROM accounts

-- name: SELECT row_number OVER PARTITION BY
SELECT *, row_number() OVER (PARTITION BY region ORDER BY name) AS rn FROM users QUALIFY rn = 1;
-- read, refused: B002, CREATE TABLE with it, where OVER is by the

-- name: SELECT FROM users TABLESAMPLE 10
SELECT * FROM users TABLESAMPLE (10 PERCENT);
-- read, refused: S001, take rows by their keys, which is the same

-- name: SELECT FROM users PIVOT count
SELECT * FROM users PIVOT (count(*) FOR region IN ('a', 'b'));
-- read, refused: S001, an aggregate for each value: SUM(a) FILTER
