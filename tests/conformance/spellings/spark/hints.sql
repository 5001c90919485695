-- What Spark's users write, and what the refusal says to write instead.

-- name: a pipe behind a query
CREATE STREAM x AS SELECT * FROM orders |> WHERE amount > 10;
-- refused: S001, write the steps as clauses of one SELECT, or as queries of

-- name: a pipe behind TABLE
TABLE users |> WHERE user_id > 1;
-- read, refused: S001, write the steps as clauses of one SELECT, or as queries of

-- name: a text in double quotes
CREATE STREAM x AS SELECT id FROM events WHERE kind = "click";
-- refused: N001, 'click' is a text: double quotes are around names

-- name: a text in double quotes that is nearly a column
CREATE STREAM x AS SELECT id FROM events WHERE kind = "kinds";
-- refused: N001, did you mean kind, or the text 'kinds'?

-- name: a path of JSON in double quotes
CREATE STREAM x AS SELECT get_json_object(payload, "$.a") AS a FROM events;
-- refused: N001, '$.a' is a text: double quotes are around names

-- name: a text with a double-quoted apostrophe
CREATE STREAM x AS SELECT id FROM events WHERE kind = "it's";
-- refused: N001, did you mean ts, or the text 'it''s'?

-- name: two texts side by side
CREATE STREAM x AS SELECT 'a' 'b' AS c FROM events;
-- refused: S001, 'a' || 'b' makes one text of two

-- name: LATERAL VIEW json_tuple
CREATE STREAM x AS SELECT id, a FROM events LATERAL VIEW json_tuple(payload, 'a', 'b') t AS a, b;
-- refused: S001, GET_JSON_OBJECT(json, '$.a') AS a in the SELECT list, for

-- name: LATERAL VIEW stack
CREATE STREAM x AS SELECT id, c FROM events LATERAL VIEW stack(2, 1, 2) t AS c;
-- refused: S001, CROSS JOIN UNNEST(ARRAY[STRUCT('a' AS name, a AS value),

-- name: LIKE as a function
CREATE STREAM x AS SELECT like(kind, 'a%') AS a FROM events;
-- refused: N005, kind LIKE 'a%'

-- name: ILIKE as a function
CREATE STREAM x AS SELECT ilike(kind, 'a%') AS a FROM events;
-- refused: N005, kind ILIKE 'a%'

-- name: decode of several values
CREATE STREAM x AS SELECT decode(kind, 'a', 1, 2) AS a FROM events;
-- refused: T005, CASE kind WHEN 'a' THEN 1 ELSE 2 END

-- name: decode of one value
CREATE STREAM x AS SELECT decode(kind, 'a', 1) AS a FROM events;
-- refused: T005, CASE kind WHEN 'a' THEN 1 END

-- name: from_json with options
CREATE STREAM x AS SELECT from_json(payload, 'a INT', map('mode', 'FAILFAST')) AS a FROM events;
-- refused: T005, FROM_JSON(payload, 'a INT')

-- name: listagg without a separator
-- Spark puts nothing between the values, Flink a comma.
CREATE STREAM x AS SELECT listagg(kind) AS a FROM events GROUP BY window(ts, '1 hour');
-- refused: T005, LISTAGG(kind, ',')

-- name: array_sort with a lambda
CREATE STREAM x AS SELECT array_sort(numbers, (l, r) -> r - l) AS a FROM events;
-- refused: T005, it takes ARRAY_SORT(ARRAY<O>)

-- name: TIMESTAMP_NTZ before a text
CREATE STREAM x AS SELECT TIMESTAMP_NTZ '2024-01-01 00:00:00' AS a FROM events;
-- refused: S001, TIMESTAMP '2026-01-31 12:00:00', which is in UTC

-- name: VERSION AS OF
SELECT * FROM users VERSION AS OF 1;
-- read, refused: S001, leave it out: a read sees the rows as they are now

-- name: TIMESTAMP AS OF
SELECT * FROM users TIMESTAMP AS OF '2024-01-01';
-- read, refused: S001, leave it out: a read sees the rows as they are now

-- name: FOR VERSION AS OF
SELECT * FROM users FOR VERSION AS OF 1;
-- read, refused: S001, leave it out: a read sees the rows as they are now

-- name: DISTRIBUTE BY
CREATE STREAM x AS SELECT STREAM * FROM orders DISTRIBUTE BY user_id;
-- refused: S001, PARTITION BY divides the rows of a stream by a key; leave

-- name: DISTRIBUTE BY of a read
SELECT * FROM users DISTRIBUTE BY region SORT BY name;
-- read, refused: S001, PARTITION BY divides the rows of a stream by a key; leave

-- name: CLUSTER BY
SELECT * FROM users CLUSTER BY region;
-- read, refused: S001, PARTITION BY divides the rows of a stream by a key; leave

-- name: SORT BY
SELECT * FROM users SORT BY name;
-- read, refused: S001, leave it out: rows of a stream come in no order; a read has

-- name: EXCEPT ALL
SELECT user_id FROM users EXCEPT ALL SELECT user_id FROM accounts;
-- read, refused: S001, EXCEPT gives each row once; GROUP BY and COUNT(*) tell how

-- name: INTERSECT ALL
SELECT user_id FROM users INTERSECT ALL SELECT user_id FROM accounts;
-- read, refused: S001, INTERSECT gives each row once; GROUP BY and COUNT(*) tell

-- name: range of one number
SELECT * FROM range(10);
-- read, refused: S001, GENERATE_SERIES(0, 9) has the whole numbers from its first

-- name: range with a step
SELECT * FROM range(1, 10, 2) AS t(x);
-- read, refused: S001, GENERATE_SERIES(0, 9) has the whole numbers from its first

-- name: WITH RECURSIVE
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r;
-- read, refused: S001, a recursive query has no bound; join as many times as there

-- name: IDENTIFIER
SELECT * FROM IDENTIFIER('users');
-- read, refused: S001, write the name as it is, without quotes

-- name: a named parameter
CREATE STREAM x AS SELECT order_id FROM orders WHERE amount > :least;
-- refused: S001, a script has no parameters: write the value, or let the

-- name: a positional parameter
CREATE STREAM x AS SELECT order_id FROM orders WHERE amount > ?;
-- refused: S006, a script has no parameters: write the value, or let the

-- name: a variable of a notebook
CREATE STREAM x AS SELECT order_id FROM orders WHERE amount > ${least};
-- refused: S006, a script has no parameters

-- name: columns of one name behind a star
SELECT * FROM users u JOIN accounts a ON u.user_id = a.user_id;
-- read, refused: K010, u.*, a.* EXCEPT (user_id), or JOIN … USING (user_id)

-- name: a cast to a text of a length
CREATE STREAM x AS SELECT CAST(kind AS CHAR(3)) AS a FROM events;
-- refused: T009, STRING, and SUBSTRING(text, 1, 3) for its first characters

-- name: EXPLAIN of a stream
EXPLAIN FORMATTED SELECT user_id FROM orders;
-- refused: S001, EXPLAIN PLAN, STATE, PHYSICAL, PARTITIONS, SPARK, CODE or AST before

-- name: SET without a name
SET;
-- refused: S002, leave it out: it sets what belongs to another system;

-- name: a dotted name with a hyphen
SET spark.sql.streaming.state-store = 1;
-- refused: S001, leave it out: it sets what belongs to another system;

-- name: unix_date of a time
CREATE STREAM x AS SELECT unix_date(ts) AS a FROM events;
-- refused: T006, it takes UNIX_DATE(DATE)

-- name: functions of days over times
CREATE STREAM x AS SELECT STREAM datediff(ts, day) AS a, date_add(ts, 1) AS b, trunc(ts, 'MM') AS c, last_day(ts) AS d, monthname(ts) AS e, next_day(ts, 'Mon') AS f FROM events;
-- same as
CREATE STREAM x AS SELECT STREAM datediff(CAST(ts AS DATE), day) AS a, date_add(CAST(ts AS DATE), 1) AS b, trunc(CAST(ts AS DATE), 'MM') AS c, last_day(CAST(ts AS DATE)) AS d, monthname(CAST(ts AS DATE)) AS e, next_day(CAST(ts AS DATE), 'Mon') AS f FROM events;

-- name: TIMESTAMP_NTZ as a type
CREATE STREAM x AS SELECT STREAM CAST(kind AS TIMESTAMP_NTZ) AS a FROM events;
-- same as
CREATE STREAM x AS SELECT STREAM CAST(kind AS TIMESTAMP) AS a FROM events;

-- name: the star of each side, without the key of one
SELECT u.*, a.* EXCEPT (user_id) FROM users u JOIN accounts a ON u.user_id = a.user_id;
-- read, same as
SELECT u.user_id, u.name, u.region, u.gender, a.balance, a.manager FROM users u JOIN accounts a ON u.user_id = a.user_id;
