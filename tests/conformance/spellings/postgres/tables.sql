-- Declarations and changes of PostgreSQL, and its queries.

-- name: CREATE TABLE t (id SERIAL PRIMARY KEY, name VARCHAR(50) NOT
CREATE TABLE t (id SERIAL PRIMARY KEY, name VARCHAR(50) NOT NULL);
-- refused: S011, BIGINT: the key of a row has to be in its record

-- name: CREATE TABLE t (id BIGINT GENERATED ALWAYS AS IDENTITY (STAR
CREATE TABLE t (id BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 1 INCREMENT BY 1) PRIMARY KEY, name TEXT);
-- refused: S001, the key of a row has to be in its record

-- name: CREATE TABLE t (id UUID PRIMARY KEY DEFAULT gen_random_uuid(
CREATE TABLE t (id UUID PRIMARY KEY DEFAULT gen_random_uuid(), data JSONB, tags TEXT[], ip INET, price MONEY, span INTERVAL, bits BIT(3)) WITH (connector='files', path='t', format='json');
-- refused: S011, STRING

-- name: CREATE TABLE t (id INT PRIMARY KEY, CONSTRAINT positive CHEC
CREATE TABLE t (id INT PRIMARY KEY, CONSTRAINT positive CHECK (id > 0), CONSTRAINT fk FOREIGN KEY (id) REFERENCES users (user_id) ON DELETE CASCADE) WITH (connector='files', path='t', format='json');
-- refused: B002, leave it out, and filter the rows where they are read: WHERE has the

-- name: CREATE TABLE t (id INT CONSTRAINT pk PRIMARY KEY, name TEXT)
CREATE TABLE t (id INT CONSTRAINT pk PRIMARY KEY, name TEXT) WITH (connector='files', path='t', format='json');
-- refused: S001, leave out the name: id INT PRIMARY KEY

-- name: CREATE TABLE t (id INT, CONSTRAINT pk PRIMARY KEY (id)) WITH
CREATE TABLE t (id INT, CONSTRAINT pk PRIMARY KEY (id)) WITH (connector='files', path='t', format='json');
-- same as
CREATE TABLE t (id INT PRIMARY KEY) WITH (connector = 'files', path = 't', format = 'json');

-- name: CREATE TABLE t (id INT PRIMARY KEY, a INT REFERENCES users O
CREATE TABLE t (id INT PRIMARY KEY, a INT REFERENCES users ON DELETE SET NULL) WITH (connector='files', path='t', format='json');
-- refused: S001, leave it out: no rows are deleted by rows of another table

-- name: CREATE TABLE t (id INT PRIMARY KEY, total NUMERIC GENERATED
CREATE TABLE t (id INT PRIMARY KEY, total NUMERIC GENERATED ALWAYS AS (id * 2) STORED) WITH (connector='files', path='t', format='json');
-- same as
CREATE TABLE t (id INT PRIMARY KEY, total AS CAST(id * 2 AS DECIMAL)) WITH (connector = 'files', path = 't', format = 'json');

-- name: CREATE TABLE t (id INT PRIMARY KEY, c TIMESTAMPTZ DEFAULT no
CREATE TABLE t (id INT PRIMARY KEY, c TIMESTAMPTZ DEFAULT now(), d TIMESTAMP DEFAULT CURRENT_TIMESTAMP, e DATE DEFAULT CURRENT_DATE) WITH (connector='files', path='t', format='json');
-- same as
CREATE TABLE t (id INT PRIMARY KEY, c TIMESTAMP DEFAULT NOW(), d TIMESTAMP DEFAULT CURRENT_TIMESTAMP, e DATE DEFAULT CURRENT_DATE) WITH (connector = 'files', path = 't', format = 'json');

-- name: CREATE TABLE t (id INT PRIMARY KEY, name TEXT COLLATE "de_DE
CREATE TABLE t (id INT PRIMARY KEY, name TEXT COLLATE "de_DE") WITH (connector='files', path='t', format='json');
-- refused: S001, leave it out: texts are compared by their bytes in UTF-8

-- name: CREATE TABLE t (id INT PRIMARY KEY, m TIME WITHOUT TIME ZONE
CREATE TABLE t (id INT PRIMARY KEY, m TIME WITHOUT TIME ZONE, n TIME(6), o TIMETZ) WITH (connector='files', path='t', format='json');
-- refused: S011, TIME, which has no zone

-- name: CREATE TABLE t (id INT PRIMARY KEY) INHERITS (users)
CREATE TABLE t (id INT PRIMARY KEY) INHERITS (users);
-- refused: S001, list all columns: a table is one by itself

-- name: CREATE TABLE t PARTITION OF u FOR VALUES FROM (1) TO (2)
CREATE TABLE t PARTITION OF u FOR VALUES FROM (1) TO (2);
-- refused: S001, a table is one: declare the whole, and its rows are divided by their

-- name: CREATE TABLE t (id INT PRIMARY KEY) TABLESPACE x
CREATE TABLE t (id INT PRIMARY KEY) TABLESPACE x;
-- refused: S001, leave it out: the options of WITH say where rows are

-- name: CREATE TABLE t (LIKE users INCLUDING ALL)
CREATE TABLE t (LIKE users INCLUDING ALL);
-- refused: S001, leave it out: LIKE takes all columns; list them to take some

-- name: CREATE TEMP TABLE t (id INT PRIMARY KEY) ON COMMIT DROP
CREATE TEMP TABLE t (id INT PRIMARY KEY) ON COMMIT DROP;
-- refused: S001, leave it out: a script is no transaction

-- name: CREATE GLOBAL TEMPORARY TABLE t (id INT PRIMARY KEY)
CREATE GLOBAL TEMPORARY TABLE t (id INT PRIMARY KEY);
-- refused: S001, leave out GLOBAL: what a script declares is the script's own

-- name: CREATE TABLE t AS SELECT * FROM users WITH DATA
CREATE TABLE t AS SELECT * FROM users WITH DATA;
-- refused: S001, leave it out: a table is filled at once, and kept up to date

-- name: CREATE TABLE t AS SELECT * FROM users WITH NO DATA
CREATE TABLE t AS SELECT * FROM users WITH NO DATA;
-- refused: S001, leave it out: a table is filled at once, and kept up to date

-- name: CREATE TABLE t (a, b) AS SELECT user_id, name FROM users
CREATE TABLE t (a, b) AS SELECT user_id, name FROM users;
-- refused: S001, name the columns in the SELECT list: SELECT a AS b

-- name: CREATE TABLE t AS TABLE users
CREATE TABLE t AS TABLE users;
-- same as
CREATE TABLE t AS SELECT * FROM users;

-- name: CREATE TABLE t AS VALUES (1, 2)
CREATE TABLE t AS VALUES (1, 2);
-- refused: K024, penstock query and Session.sql read it

-- name: CREATE VIEW v AS SELECT * FROM users WITH CHECK OPTION
CREATE VIEW v AS SELECT * FROM users WITH CHECK OPTION;
-- refused: S001, leave it out: no rows are written into a view

-- name: CREATE MATERIALIZED VIEW mv AS SELECT region, count(*) AS n
CREATE MATERIALIZED VIEW mv AS SELECT region, count(*) AS n FROM users GROUP BY region WITH DATA;
-- refused: S001, leave it out: a table is filled at once, and kept up to date

-- name: CREATE MATERIALIZED VIEW IF NOT EXISTS mv AS SELECT region,
CREATE MATERIALIZED VIEW IF NOT EXISTS mv AS SELECT region, count(*) AS n FROM users GROUP BY region;
-- same as
CREATE TABLE IF NOT EXISTS mv AS SELECT region, COUNT(*) AS n FROM users GROUP BY region;

-- name: REFRESH MATERIALIZED VIEW CONCURRENTLY mv
REFRESH MATERIALIZED VIEW CONCURRENTLY mv;
-- refused: S001, leave it out: nothing is maintained by hand

-- name: CREATE UNIQUE INDEX i ON users (name)
CREATE UNIQUE INDEX i ON users (name);
-- refused: S001, leave it out: nothing is maintained by hand

-- name: CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON users USING btr
CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON users USING btree (name DESC NULLS LAST) WHERE region = 'x';
-- refused: S001, leave it out: nothing is maintained by hand

-- name: CREATE SCHEMA IF NOT EXISTS s
CREATE SCHEMA IF NOT EXISTS s;
-- refused: S001, leave it out: names have no catalog, database or schema

-- name: CREATE TYPE mood AS ENUM ('sad', 'ok')
CREATE TYPE mood AS ENUM ('sad', 'ok');
-- refused: S001, write the type where it is used: STRUCT<a: INT, b: STRING>

-- name: CREATE DOMAIN posint AS int CHECK (VALUE > 0)
CREATE DOMAIN posint AS int CHECK (VALUE > 0);
-- refused: S001, write the type where it is used: STRUCT<a: INT, b: STRING>

-- name: CREATE RULE r AS ON INSERT TO users DO NOTHING
CREATE RULE r AS ON INSERT TO users DO NOTHING;
-- refused: S001, INSERT INTO with a SELECT runs for each row that comes

-- name: DROP TABLE IF EXISTS users CASCADE
DROP TABLE IF EXISTS users CASCADE;
-- refused: S001, leave it out: DROP is refused while a query reads it; DROP QUERY ends

-- name: DROP VIEW IF EXISTS v RESTRICT
DROP VIEW IF EXISTS v RESTRICT;
-- refused: S001, leave it out: DROP is always refused while a query reads it

-- name: TRUNCATE users RESTART IDENTITY
TRUNCATE users RESTART IDENTITY;
-- refused: S001, rows of a table go by their keys: DELETE FROM users USING s WHERE

-- name: ALTER TABLE users RENAME TO u2
ALTER TABLE users RENAME TO u2;
-- refused: S001, change the declaration in the script; docs/semantics/script-changes.md says which

-- name: INSERT INTO user_totals VALUES (1, 2.5), (2, 3.5)
INSERT INTO user_totals VALUES (1, 2.5), (2, 3.5);
-- refused: K024, write the rows into a file in the folder of user_totals, and queries

-- name: INSERT INTO user_totals AS t (user_id, total) VALUES (1, 2)
INSERT INTO user_totals AS t (user_id, total) VALUES (1, 2) ON CONFLICT (user_id) DO UPDATE SET total = t.total + EXCLUDED.total;
-- refused: S001, leave out the alias: an INSERT names no columns of the rows that

-- name: INSERT INTO customers (id, name, region) SELECT STREAM user_
INSERT INTO customers (id, name, region) SELECT STREAM user_id, product, currency FROM orders ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name;
-- refused: S001, leave it out: an INSERT into a table with a key replaces rows by that

-- name: INSERT INTO customers (id, name) VALUES (1, 'a') RETURNING i
INSERT INTO customers (id, name) VALUES (1, 'a') RETURNING id;
-- refused: S001, leave it out: a SELECT from the table shows its rows

-- name: INSERT INTO alerts OVERRIDING SYSTEM VALUE SELECT STREAM use
INSERT INTO alerts OVERRIDING SYSTEM VALUE SELECT STREAM user_id, product, amount FROM orders;
-- refused: S001, leave it out: a key is always the one that the query gives

-- name: UPDATE customers SET name = 'x' WHERE id = 1
UPDATE customers SET name = 'x' WHERE id = 1;
-- refused: S001, UPDATE customers SET a = s.a FROM s WHERE customers.k = s.k changes

-- name: UPDATE customers SET name = o.product FROM orders o WHERE cu
UPDATE customers SET name = o.product FROM orders o WHERE customers.id = o.user_id;
-- same as
UPDATE customers SET name = o.product FROM STREAM orders AS o WHERE customers.id = o.user_id;

-- name: UPDATE customers c SET name = o.product FROM orders o WHERE
UPDATE customers c SET name = o.product FROM orders o WHERE c.id = o.user_id;
-- same as
UPDATE customers SET name = o.product FROM STREAM orders AS o WHERE customers.id = o.user_id;

-- name: UPDATE customers AS c SET name = o.product FROM orders o WHE
UPDATE customers AS c SET name = o.product FROM orders o WHERE c.id = o.user_id;
-- same as
UPDATE customers SET name = o.product FROM STREAM orders AS o WHERE customers.id = o.user_id;

-- name: UPDATE customers SET name = o.product FROM orders o WHERE cu 2
UPDATE customers SET name = o.product FROM orders o WHERE customers.id = o.user_id RETURNING *;
-- refused: S001, leave it out: a SELECT from the table shows its rows

-- name: DELETE FROM customers WHERE id = 3
DELETE FROM customers WHERE id = 3;
-- refused: S001, DELETE FROM customers USING s WHERE customers.k = s.k deletes rows by

-- name: DELETE FROM customers USING orders o WHERE customers.id = o.
DELETE FROM customers USING orders o WHERE customers.id = o.user_id;
-- same as
DELETE FROM customers USING STREAM orders AS o WHERE customers.id = o.user_id;

-- name: DELETE FROM customers c USING orders o WHERE c.id = o.user_i
DELETE FROM customers c USING orders o WHERE c.id = o.user_id;
-- same as
DELETE FROM customers USING STREAM orders AS o WHERE customers.id = o.user_id;

-- name: DELETE FROM customers AS c USING orders AS o WHERE c.id = o.
DELETE FROM customers AS c USING orders AS o WHERE c.id = o.user_id;
-- same as
DELETE FROM customers USING STREAM orders AS o WHERE customers.id = o.user_id;

-- name: DELETE FROM customers WHERE id IN (SELECT user_id FROM order
DELETE FROM customers WHERE id IN (SELECT user_id FROM orders);
-- refused: S001, DELETE FROM customers USING s WHERE customers.k = s.k deletes rows by

-- name: MERGE INTO customers c USING orders o ON c.id = o.user_id WH
MERGE INTO customers c USING orders o ON c.id = o.user_id WHEN MATCHED THEN UPDATE SET name = o.product WHEN NOT MATCHED THEN INSERT VALUES (o.user_id, o.product, o.currency);
-- refused: S001, rows are written by key: UPDATE t SET a = s.a FROM s WHERE t.k = s.k

-- name: SELECT DISTINCT ON (user_id) user_id, product FROM orders OR
SELECT DISTINCT ON (user_id) user_id, product FROM orders ORDER BY user_id, order_time DESC;
-- refused: B002, QUALIFY ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY order_time DESC) = 1 of a table

-- name: SELECT region, array_agg(name ORDER BY name) FROM users GROU
SELECT region, array_agg(name ORDER BY name) FROM users GROUP BY region;
-- same as
SELECT region, ARRAY_AGG(name) WITHIN GROUP (ORDER BY name) FROM users GROUP BY region;

-- name: SELECT region, json_object_agg(name, user_id) FROM users GRO
SELECT region, json_object_agg(name, user_id) FROM users GROUP BY region;
-- refused: N005, TO_JSON(MAP_FROM_ENTRIES(COLLECT_LIST(STRUCT(name, user_id))))

-- name: SELECT region, count(*) FROM users GROUP BY ROLLUP (region)
SELECT region, count(*) FROM users GROUP BY ROLLUP (region);
-- same as
SELECT region, COUNT(*), GROUPING_ID() AS grouping_id FROM users GROUP BY ROLLUP (region);

-- name: SELECT region, gender, count(*), grouping(region) FROM users
SELECT region, gender, count(*), grouping(region) FROM users GROUP BY GROUPING SETS ((region), (gender), ());
-- same as
SELECT region, gender, COUNT(*), GROUPING(region), GROUPING_ID() AS grouping_id FROM users
GROUP BY GROUPING SETS ((region), (gender), ());

-- name: SELECT region, count(*) FROM users GROUP BY region HAVING co
SELECT region, count(*) FROM users GROUP BY region HAVING count(*) > 1 ORDER BY count(*) DESC NULLS LAST LIMIT 10 OFFSET 5;
-- same as
SELECT region, COUNT(*) FROM users GROUP BY region HAVING COUNT(*) > 1 ORDER BY COUNT(*) DESC LIMIT 10 OFFSET 5;

-- name: SELECT * FROM users ORDER BY 2 DESC, user_id ASC
SELECT * FROM users ORDER BY 2 DESC, user_id ASC;
-- refused: S008, leave it out here; penstock query takes it over tables as they are now

-- name: SELECT * FROM users FETCH FIRST ROW ONLY
SELECT * FROM users FETCH FIRST ROW ONLY;
-- refused: S009, leave it out here; penstock query and penstock shell take it over tables

-- name: SELECT * FROM users OFFSET 5 ROWS FETCH NEXT 10 ROWS ONLY
SELECT * FROM users OFFSET 5 ROWS FETCH NEXT 10 ROWS ONLY;
-- refused: S009, leave it out here; penstock query and penstock shell take it over tables

-- name: SELECT * FROM users LIMIT 10 FOR UPDATE SKIP LOCKED
SELECT * FROM users LIMIT 10 FOR UPDATE SKIP LOCKED;
-- refused: S001, leave it out: a read takes no locks

-- name: SELECT * FROM users TABLESAMPLE SYSTEM (10)
SELECT * FROM users TABLESAMPLE SYSTEM (10);
-- refused: S001, take rows by their keys, which is the same after a restart: WHERE

-- name: SELECT u.*, a.balance FROM users u, LATERAL (SELECT balance
SELECT u.*, a.balance FROM users u, LATERAL (SELECT balance FROM accounts a WHERE a.user_id = u.user_id) a;
-- refused: S001, computed in the SELECT list, or in a subquery around the

-- name: SELECT * FROM users u LEFT JOIN LATERAL unnest(ARRAY[1,2]) A
SELECT * FROM users u LEFT JOIN LATERAL unnest(ARRAY[1,2]) AS x(n) ON true;
-- refused: K023, UNNEST the stream behind the table

-- name: SELECT * FROM generate_series(1, 10) AS g(n)
SELECT * FROM generate_series(1, 10) AS g(n);
-- refused: K024, FROM events CROSS JOIN generate_series(1, 10) AS g(n); penstock query

-- name: SELECT * FROM unnest(ARRAY[1,2,3]) WITH ORDINALITY AS t(v, n
SELECT * FROM unnest(ARRAY[1,2,3]) WITH ORDINALITY AS t(v, n);
-- refused: K024, FROM events CROSS JOIN unnest(ARRAY[1,2,3]) WITH ORDINALITY AS t(v

-- name: SELECT * FROM users NATURAL JOIN accounts
SELECT * FROM users NATURAL JOIN accounts;
-- refused: J022, JOIN accounts USING (user_id)

-- name: SELECT * FROM users u CROSS JOIN accounts a
SELECT * FROM users u CROSS JOIN accounts a;
-- refused: J015, ON u.user_id = a.user_id

-- name: SELECT * FROM users u JOIN accounts a USING (user_id) WHERE
SELECT * FROM users u JOIN accounts a USING (user_id) WHERE a.balance > 5;
-- same as
SELECT * FROM users AS u INNER JOIN accounts AS a USING (user_id) WHERE a.balance > 5;

-- name: SELECT * FROM users WHERE user_id = ANY (ARRAY[1,2,3])
SELECT * FROM users WHERE user_id = ANY (ARRAY[1,2,3]);
-- same as
SELECT * FROM users WHERE user_id IN (1, 2, 3);

-- name: SELECT * FROM users WHERE user_id <> ALL (ARRAY[1,2,3])
SELECT * FROM users WHERE user_id <> ALL (ARRAY[1,2,3]);
-- same as
SELECT * FROM users WHERE user_id NOT IN (1, 2, 3);

-- name: SELECT * FROM users WHERE user_id = ANY (SELECT user_id FROM
SELECT * FROM users WHERE user_id = ANY (SELECT user_id FROM accounts);
-- same as
SELECT * FROM users WHERE user_id IN (SELECT user_id FROM accounts);

-- name: SELECT * FROM users WHERE user_id = SOME (SELECT user_id FRO
SELECT * FROM users WHERE user_id = SOME (SELECT user_id FROM accounts);
-- same as
SELECT * FROM users WHERE user_id IN (SELECT user_id FROM accounts);

-- name: SELECT * FROM users WHERE (user_id, name) IN (SELECT user_id
SELECT * FROM users WHERE (user_id, name) IN (SELECT user_id, 'x' FROM accounts);
-- refused: B002, EXISTS compares several columns

-- name: WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n+1 FROM
WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n+1 FROM t WHERE n < 100) SELECT sum(n) FROM t;
-- refused: S001, a recursive query has no bound; join as many times as there are levels

-- name: SELECT * FROM users UNION SELECT * FROM users INTERSECT SELE
SELECT * FROM users UNION SELECT * FROM users INTERSECT SELECT * FROM users EXCEPT ALL SELECT * FROM users;
-- refused: S001, EXCEPT gives each row once; GROUP BY and COUNT(*) tell how often a

-- name: SELECT sum(amount) OVER (PARTITION BY user_id ORDER BY order
SELECT sum(amount) OVER (PARTITION BY user_id ORDER BY order_time ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM orders;
-- refused: W020, ORDER BY order_time RANGE INTERVAL '10' MINUTE PRECEDING); or leave

-- name: SELECT sum(amount) OVER (PARTITION BY user_id ORDER BY order 2
SELECT sum(amount) OVER (PARTITION BY user_id ORDER BY order_time RANGE BETWEEN '10 minutes' PRECEDING AND CURRENT ROW) FROM orders;
-- refused: S001, INTERVAL '10' MINUTE instead of '10 minutes'

-- name: SELECT sum(amount) OVER (PARTITION BY user_id ORDER BY order 3
SELECT sum(amount) OVER (PARTITION BY user_id ORDER BY order_time RANGE BETWEEN INTERVAL '10 minutes' PRECEDING AND CURRENT ROW) FROM orders;
-- refused: K002, SELECT STREAM, or GROUP BY a key for a table

-- name: SELECT avg(amount) OVER (PARTITION BY user_id ORDER BY order
SELECT avg(amount) OVER (PARTITION BY user_id ORDER BY order_time ROWS 5 PRECEDING) FROM orders;
-- refused: K002, SELECT STREAM, or GROUP BY a key for a table

-- name: SELECT ntile(4) OVER (ORDER BY user_id) FROM users
SELECT ntile(4) OVER (ORDER BY user_id) FROM users;
-- refused: W026, a table has no order: GROUP BY, or read the stream behind it

-- name: EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM users
EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM users;
-- refused: S001, EXPLAIN PLAN, STATE, PHYSICAL, PARTITIONS, SPARK, CODE or AST before a

-- name: SELECT 1
SELECT 1;
-- refused: K024, penstock query and Session.sql read it

-- name: COPY users FROM '/tmp/x.csv' WITH (FORMAT csv)
COPY users FROM '/tmp/x.csv' WITH (FORMAT csv);
-- refused: S001, declare the files: CREATE STREAM with connector = 'files', and INSERT

-- name: SHOW server_version
SHOW server_version;
-- refused: S001, SHOW STREAMS, SHOW TABLES, SHOW VIEWS, SHOW QUERIES and SHOW

-- name: SET statement_timeout TO '5s'
SET statement_timeout TO '5s';
-- refused: S001, leave it out: it sets what belongs to another system;

-- name: COMMIT
COMMIT;
-- refused: S001, leave it out: the statements of a script are planned together, and a

-- name: SELECT public.users.name FROM public.users
SELECT public.users.name FROM public.users;
-- refused: S001, names have no catalog, database or schema; CREATE STREAM and CREATE

-- name: SELECT u.name user_name FROM users u
SELECT u.name user_name FROM users u;
-- same as
SELECT u.name AS user_name FROM users AS u;

-- name: SELECT count(*) count FROM users
SELECT count(*) count FROM users;
-- same as
SELECT COUNT(*) AS count FROM users;

-- name: SELECT user_id, name value FROM users
SELECT user_id, name value FROM users;
-- same as
SELECT user_id, name AS value FROM users;

-- name: SELECT current_user, session_user
SELECT current_user, session_user;
-- refused: K024, penstock query and Session.sql read it

-- name: SELECT CURRENT_TIMESTAMP(3), LOCALTIMESTAMP, CURRENT_TIME, L
SELECT CURRENT_TIMESTAMP(3), LOCALTIMESTAMP, CURRENT_TIME, LOCALTIME;
-- refused: K024, penstock query and Session.sql read it

-- name: UPDATE customers c SET name = upper(o.product) FROM orders A
UPDATE customers c SET name = upper(o.product) FROM orders AS o WHERE c.id = o.user_id;
-- same as
UPDATE customers SET name = UPPER(o.product) FROM STREAM orders AS o WHERE customers.id = o.user_id;

-- name: DELETE FROM customers AS c USING orders WHERE c.id = orders.
DELETE FROM customers AS c USING orders WHERE c.id = orders.user_id;
-- same as
DELETE FROM customers USING STREAM orders WHERE customers.id = orders.user_id;

-- name: SELECT u.name FROM users u WHERE u.user_id = ANY (ARRAY[1, 2
SELECT u.name FROM users u WHERE u.user_id = ANY (ARRAY[1, 2, 3]);
-- same as
SELECT u.name FROM users AS u WHERE u.user_id IN (1, 2, 3);

-- name: SELECT u.name FROM users u WHERE u.user_id <> ALL (ARRAY[1,
SELECT u.name FROM users u WHERE u.user_id <> ALL (ARRAY[1, 2, 3]);
-- same as
SELECT u.name FROM users AS u WHERE u.user_id NOT IN (1, 2, 3);

-- name: SELECT DISTINCT ON (region) region, name FROM users ORDER BY
SELECT DISTINCT ON (region) region, name FROM users ORDER BY region, user_id;
-- refused: B002, QUALIFY ROW_NUMBER() OVER (PARTITION BY region ORDER BY user_id) = 1 of a table
