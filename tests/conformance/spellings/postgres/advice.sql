-- What PostgreSQL has and Penstock refuses, with the advice that it gives.

-- name: SELECT DISTINCT ON (user_id) user_id, product, order_time
SELECT DISTINCT ON (user_id) user_id, product, order_time FROM orders ORDER BY user_id, order_time DESC;
-- refused: B002, GROUP BY user_id of a stream, with MAX_BY(value, order_time) for each other column; QUALIF

-- name: SELECT user_id, (SELECT name FROM users u WHERE u.user_id
SELECT user_id, (SELECT name FROM users u WHERE u.user_id = o.user_id) AS name FROM orders o;
-- refused: B002, LEFT JOIN users u ON u.user_id = o.user_id, and name in the place of the subquery

-- name: SELECT * FROM orders o WHERE amount > (SELECT AVG(amount)
SELECT * FROM orders o WHERE amount > (SELECT AVG(amount) FROM orders);
-- refused: B002, FROM (SELECT *, 1 AS one FROM orders o) AS a JOIN (SELECT 1 AS one, AVG(amount) AS value F

-- name: SELECT * FROM orders o WHERE user_id = ANY (' 1,2,3 ')
SELECT * FROM orders o WHERE user_id = ANY ('{1,2,3}');
-- refused: S026, ARRAY[1,2,3]

-- name: SELECT g FROM generate_series(1, 10, 2) AS g
SELECT g FROM generate_series(1, 10, 2) AS g;
-- read, refused: S001, UNNEST(SEQUENCE(1, 10, 2)) AS u counts in steps

-- name: WITH ins AS (INSERT INTO customers VALUES (1) RETURNING *)
WITH ins AS (INSERT INTO customers VALUES (1) RETURNING *) SELECT * FROM ins;
-- refused: S001, an INSERT, UPDATE or DELETE is a statement by itself, and a SELECT another one

-- name: INSERT INTO customers SELECT user_id, product, currency FR
INSERT INTO customers SELECT user_id, product, currency FROM orders RETURNING id;
-- refused: S001, leave it out: a SELECT from the table shows its rows

-- name: UPDATE customers SET (name, region) = ('a', 'b') WHERE id
UPDATE customers SET (name, region) = ('a', 'b') WHERE id = 1;
-- refused: S001, a column at a time: UPDATE name SET a = s.a, b = s.b FROM s WHERE name.k = s.k

-- name: UPDATE customers c SET name = o.product FROM orders o WHER
UPDATE customers c SET name = o.product FROM orders o WHERE c.id = o.user_id RETURNING *;
-- refused: S001, leave it out: a SELECT from the table shows its rows

-- name: UPDATE ONLY customers SET name = 'x'
UPDATE ONLY customers SET name = 'x';
-- refused: S002, leave out ONLY: a table is one by itself

-- name: CREATE TABLE t2 (id INT, ts TIMESTAMP) PARTITION BY RANGE
CREATE TABLE t2 (id INT, ts TIMESTAMP) PARTITION BY RANGE (ts);
-- refused: S001, leave it out: a table is one, and its rows are divided by their keys

-- name: CREATE VIEW v2 WITH (security_barrier) AS SELECT * FROM us
CREATE VIEW v2 WITH (security_barrier) AS SELECT * FROM users;
-- refused: S001, leave it out: a view has no options

-- name: CREATE FUNCTION f(a INT) RETURNS INT AS SELECT a LANGUAGE
CREATE FUNCTION f(a INT) RETURNS INT AS $$ SELECT a $$ LANGUAGE sql;
-- refused: S006, leave it out: queries run no code of their own; docs/functions.md lists the functions they

-- name: DO BEGIN END
DO $$ BEGIN END $$;
-- refused: S006, leave it out: queries run no code of their own; docs/functions.md lists the functions they

-- name: PREPARE p (int) AS SELECT * FROM users WHERE user_id = 1
PREPARE p (int) AS SELECT * FROM users WHERE user_id = $1;
-- refused: S006, leave it out: a query is prepared once, when it starts

-- name: EXECUTE p(1)
EXECUTE p(1);
-- refused: S001, write the statement itself: a query is prepared once, when it starts

-- name: DECLARE c CURSOR FOR SELECT * FROM users
DECLARE c CURSOR FOR SELECT * FROM users;
-- refused: S001, penstock query prints the rows of a SELECT

-- name: SELECT * FROM users ORDER BY name USING >
SELECT * FROM users ORDER BY name USING >;
-- read, refused: S001, ORDER BY a DESC puts the greatest first

-- name: SELECT * INTO t3 FROM users
SELECT * INTO t3 FROM users;
-- refused: S001, CREATE TABLE t3 AS SELECT keeps the result of a query

-- name: SELECT * FROM ONLY users
SELECT * FROM ONLY users;
-- refused: K012, leave out ONLY: a table is one by itself

-- name: SELECT users FROM users
SELECT users FROM users;
-- refused: N001, users.* has all its columns, and users.column one of them

-- name: SELECT order_id, sum(amount) OVER (PARTITION BY user_id OR
SELECT order_id, sum(amount) OVER (PARTITION BY user_id ORDER BY order_time RANGE BETWEEN '1 hour'::interval PRECEDING AND CURRENT ROW) FROM orders;
-- refused: S001, INTERVAL '1' HOUR PRECEDING

-- name: kind 'a'
CREATE STREAM v AS SELECT kind ~ 'a' AS a FROM events;
-- refused: S001, text RLIKE 'pattern' matches a regular expression

-- name: kind * 'a'
CREATE STREAM v AS SELECT kind ~* 'a' AS a FROM events;
-- refused: S001, text RLIKE '(?i)pattern' matches a regular expression, in upper or lower case

-- name: kind 'a' again
CREATE STREAM v AS SELECT kind !~ 'a' AS a FROM events;
-- refused: S001, text NOT RLIKE 'pattern' matches no regular expression

-- name: kind 'a '
CREATE STREAM v AS SELECT kind ~~ 'a%' AS a FROM events;
-- refused: S001, text LIKE 'pattern'

-- name: payload > ' a,b '
CREATE STREAM v AS SELECT payload #> '{a,b}' AS a FROM events;
-- refused: S006, GET_JSON_OBJECT(json, '$.a.b') reads a field of JSON

-- name: tags[1 2]
CREATE STREAM v AS SELECT tags[1:2] AS a FROM events;
-- refused: S001, SLICE(array, 2, 3) takes three elements from the second one on

-- name: tags[2 ]
CREATE STREAM v AS SELECT tags[2:] AS a FROM events;
-- refused: S001, SLICE(array, 2, 3) takes three elements from the second one on

-- name: ARRAY[1, 2] 3
CREATE STREAM v AS SELECT ARRAY[1, 2] || 3 AS a FROM events;
-- refused: T002, ARRAY_APPEND(ARRAY[1, 2], 3)

-- name: ' 1,2 ' int[]
CREATE STREAM v AS SELECT '{1,2}'::int[] AS a FROM events;
-- refused: T012, ARRAY[1,2]

-- name: ARRAY(SELECT 1)
CREATE STREAM v AS SELECT ARRAY(SELECT 1) AS a FROM events;
-- refused: S018, COLLECT_LIST(value) and GROUP BY in a subquery that is joined

-- name: kind 'a' again again
CREATE STREAM v AS SELECT kind ^@ 'a' AS a FROM events;
-- refused: S006, STARTSWITH(text, 'prefix')

-- name: encode(sha256(kind bytea), 'hex')
CREATE STREAM v AS SELECT encode(sha256(kind::bytea), 'hex') AS a FROM events;
-- refused: T014, sha256(kind::bytea)

-- name: 1_000
CREATE STREAM v AS SELECT 1_000 AS a FROM events;
-- refused: S007, 1000

-- name: score
CREATE STREAM v AS SELECT |/ score AS a FROM events;
-- refused: S001, SQRT(value)

-- name: score again
CREATE STREAM v AS SELECT ||/ score AS a FROM events;
-- refused: S001, CBRT(value)

-- name: small
CREATE STREAM v AS SELECT @ small AS a FROM events;
-- refused: S006, ABS(value)

-- name: 5
CREATE STREAM v AS SELECT 5 ! AS a FROM events;
-- refused: S001, FACTORIAL(number)

-- name: small 1
CREATE STREAM v AS SELECT small # 1 AS a FROM events;
-- refused: S006, a ^ b is the exclusive OR of bits, and -- begins a comment

-- name: day 1
CREATE STREAM v AS SELECT day + 1 AS a FROM events;
-- refused: T002, DATE_ADD(day, 1)

-- name: make_interval(days => 5)
CREATE STREAM v AS SELECT make_interval(days => 5) AS a FROM events;
-- refused: N005, time + INTERVAL '1' MONTH; ADD_MONTHS(time, n) for a column

-- name: isfinite(ts)
CREATE STREAM v AS SELECT isfinite(ts) AS a FROM events;
-- refused: N005, ts IS NOT NULL

-- name: timestamp with time zone '2020-01-01 00 00 00 01'
CREATE STREAM v AS SELECT timestamp with time zone '2020-01-01 00:00:00+01' AS a FROM events;
-- refused: S001, CAST('2026-01-31 12:00:00+01:00' AS TIMESTAMP) reads a time with its zone

-- name: payload 'a'
CREATE STREAM v AS SELECT payload ? 'a' AS a FROM events;
-- refused: S006, GET_JSON_OBJECT(json, '$.a') IS NOT NULL tells whether a field is there

-- name: payload > ' a 1 '
CREATE STREAM v AS SELECT payload @> '{"a":1}' AS a FROM events;
-- refused: S006, GET_JSON_OBJECT(json, '$.a') = 'value' compares a field of JSON

-- name: kind COLLATE C
CREATE STREAM v AS SELECT kind COLLATE "C" AS a FROM events;
-- refused: S001, leave it out: texts are compared by their bytes in UTF-8

-- name: int '5'
CREATE STREAM v AS SELECT int '5' AS a FROM events;
-- refused: S001, CAST('1' AS INT) gives a text a type

-- name: numeric '1.5'
CREATE STREAM v AS SELECT numeric '1.5' AS a FROM events;
-- refused: S001, CAST('1' AS DECIMAL(10, 2)) gives a text a type

-- name: date_add(ts, interval '1 day')
CREATE STREAM v AS SELECT date_add(ts, interval '1 day') AS a FROM events;
-- refused: T006, ts + interval '1 day'

-- name: any_value(kind)
CREATE STREAM v AS SELECT any_value(kind) AS a FROM events;
-- refused: N005, MIN(kind)
