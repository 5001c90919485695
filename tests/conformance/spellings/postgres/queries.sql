-- Queries of PostgreSQL.

-- name: GROUP BY an ordinal
CREATE VIEW totals AS SELECT product, SUM(amount) AS total FROM orders GROUP BY 1;
-- same as
CREATE VIEW totals AS SELECT product, SUM(amount) AS total FROM orders GROUP BY product;

-- name: GROUP BY an ordinal beyond the list
CREATE VIEW totals AS SELECT product, SUM(amount) AS total FROM orders GROUP BY 3;
-- refused: N007

-- name: GROUP BY an alias
CREATE VIEW totals AS SELECT LOWER(product) AS name, SUM(amount) AS total FROM orders GROUP BY name;
-- same as
CREATE VIEW totals AS SELECT LOWER(product) AS name, SUM(amount) AS total FROM orders GROUP BY LOWER(product);

-- name: an alias that hides a column
-- A column of FROM comes before an alias.
CREATE VIEW totals AS SELECT LOWER(product) AS product, SUM(amount) AS total FROM orders GROUP BY product;
-- same as
CREATE VIEW totals AS SELECT LOWER(product) AS product, SUM(amount) AS total FROM orders GROUP BY orders.product;

-- name: USING
CREATE VIEW balances AS SELECT user_id, u.name, a.balance FROM users u JOIN accounts a USING (user_id);
-- same as
CREATE VIEW balances AS
SELECT u.user_id AS user_id, u.name, a.balance FROM users u JOIN accounts a ON u.user_id = a.user_id;

-- name: a left join with USING
CREATE VIEW balances AS SELECT user_id, u.name, a.balance FROM users u LEFT JOIN accounts a USING (user_id);
-- same as
CREATE VIEW balances AS
SELECT u.user_id AS user_id, u.name, a.balance FROM users u LEFT JOIN accounts a ON u.user_id = a.user_id;

-- name: the star of a join with USING
-- The compared column comes first, and once.
CREATE VIEW balances AS SELECT * FROM users u JOIN accounts a USING (user_id);
-- same as
CREATE VIEW balances AS
SELECT u.user_id AS user_id, u.name, u.region, u.gender, a.balance, a.manager
FROM users u JOIN accounts a ON u.user_id = a.user_id;

-- name: a lookup with USING
CREATE STREAM named AS SELECT STREAM o.order_id, u.name FROM orders o JOIN users u USING (user_id);
-- same as
CREATE STREAM named AS SELECT STREAM o.order_id, u.name FROM orders o JOIN users u ON o.user_id = u.user_id;

-- name: row values
CREATE VIEW v AS SELECT order_id FROM orders WHERE (user_id, product) = (1, 'pump');
-- same as
CREATE VIEW v AS SELECT order_id FROM orders WHERE (user_id = 1 AND product = 'pump');

-- name: row values that are compared
CREATE VIEW v AS SELECT order_id FROM orders WHERE (user_id, quantity) < (10, 3);
-- same as
CREATE VIEW v AS SELECT order_id FROM orders WHERE (user_id < 10 OR user_id = 10 AND quantity < 3);

-- name: row values in a list
CREATE VIEW v AS SELECT order_id FROM orders WHERE (user_id, quantity) IN ((1, 2), (3, 4));
-- same as
CREATE VIEW v AS
SELECT order_id FROM orders WHERE ((user_id = 1 AND quantity = 2) OR (user_id = 3 AND quantity = 4));

-- name: row values in the ON of a join
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s WITHIN 5 MINUTES
ON (o.order_id, o.amount) = (s.order_id, s.cost);
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s WITHIN 5 MINUTES
ON o.order_id = s.order_id AND o.amount = s.cost;

-- name: a comma join with a table
CREATE STREAM named AS SELECT STREAM o.order_id, u.name FROM orders o, users u WHERE o.user_id = u.user_id;
-- same as
CREATE STREAM named AS SELECT STREAM o.order_id, u.name FROM orders o JOIN users u ON o.user_id = u.user_id;

-- name: a comma join of tables
CREATE VIEW balances AS SELECT u.user_id, u.name, a.balance FROM users u, accounts a WHERE u.user_id = a.user_id;
-- same as
CREATE VIEW balances AS
SELECT u.user_id, u.name, a.balance FROM users u JOIN accounts a ON u.user_id = a.user_id;

-- name: a comma join with more conditions
CREATE STREAM named AS
SELECT STREAM o.order_id, u.name FROM orders AS o, users AS u WHERE o.user_id = u.user_id AND u.region = 'north';
-- same as
CREATE STREAM named AS
SELECT STREAM o.order_id, u.name FROM orders o JOIN users u ON o.user_id = u.user_id WHERE u.region = 'north';

-- name: UNNEST beside a comma
CREATE VIEW tagged AS SELECT id, tag FROM events, UNNEST(tags) AS t (tag);
-- same as
CREATE VIEW tagged AS SELECT id, t.tag FROM events CROSS JOIN UNNEST(tags) AS t (tag);

-- name: UNNEST that names its table alone
CREATE VIEW tagged AS SELECT id, tag FROM events CROSS JOIN UNNEST(tags) AS tag;
-- same as
CREATE VIEW tagged AS SELECT id, t.tag FROM events CROSS JOIN UNNEST(tags) AS t (tag);

-- name: UNNEST WITH ORDINALITY
CREATE VIEW tagged AS SELECT id, tag, n FROM events CROSS JOIN LATERAL UNNEST(tags) WITH ORDINALITY AS t (tag, n);
-- same as
CREATE VIEW tagged AS SELECT id, t.tag, t.n FROM events CROSS JOIN UNNEST(tags) WITH ORDINALITY AS t (tag, n);

-- name: a left join of UNNEST
CREATE VIEW tagged AS SELECT id, tag FROM events LEFT JOIN LATERAL UNNEST(tags) AS t (tag) ON TRUE;
-- same as
CREATE VIEW tagged AS SELECT id, t.tag FROM events LATERAL VIEW OUTER EXPLODE(tags) t AS tag;

-- name: generate_series
CREATE VIEW numbered AS SELECT id, n FROM events CROSS JOIN LATERAL generate_series(1, small) AS t (n);
-- same as
CREATE VIEW numbered AS SELECT id, t.n FROM events CROSS JOIN UNNEST(CASE WHEN small >= 1 THEN SEQUENCE(1, small) END) AS t (n);

-- name: generate_series, whose alias names its column
CREATE VIEW numbered AS SELECT id, n FROM events, generate_series(0, 2) AS n;
-- same as
CREATE VIEW numbered AS SELECT id, t.n FROM events CROSS JOIN UNNEST(CASE WHEN 2 >= 0 THEN SEQUENCE(0, 2) END) AS t (n);

-- name: names of the columns of a subquery
CREATE VIEW v AS SELECT t.a FROM (SELECT order_id, amount FROM orders) AS t (a, b) WHERE t.b > 10;
-- same as
CREATE VIEW v AS SELECT t.a FROM (SELECT order_id AS a, amount AS b FROM orders) AS t WHERE t.b > 10;

-- name: reserved words as aliases
CREATE VIEW v AS SELECT order_id AS "select", amount AS "from", product AS "order" FROM orders;
-- same as
CREATE VIEW v AS SELECT order_id AS `select`, amount AS `from`, product AS `order` FROM orders;

-- name: words that are no keywords as aliases
CREATE VIEW v AS SELECT order_id AS key, amount AS value, product AS name, order_time AS timestamp FROM orders;
-- same as
CREATE VIEW v AS SELECT order_id AS `key`, amount AS `value`, product AS `name`, order_time AS `timestamp` FROM orders;

-- name: words of windows as aliases
CREATE VIEW v AS SELECT order_id AS window, amount AS rows, product AS partition, quantity AS over FROM orders;
-- same as
CREATE VIEW v AS SELECT order_id AS `window`, amount AS `rows`, product AS `partition`, quantity AS `over` FROM orders;

-- name: DISTINCT ON
CREATE VIEW v AS SELECT DISTINCT ON (user_id) user_id, product FROM orders;
-- refused: B002

-- name: LIMIT and OFFSET
SELECT user_id, name FROM users ORDER BY user_id LIMIT 10 OFFSET 20;
-- read, same as
SELECT user_id, name FROM users ORDER BY user_id OFFSET 20 ROWS FETCH NEXT 10 ROWS ONLY;

-- name: FETCH FIRST in a read
SELECT user_id, name FROM users ORDER BY user_id FETCH FIRST 10 ROWS ONLY;
-- read, same as
SELECT user_id, name FROM users ORDER BY user_id LIMIT 10;

-- name: VALUES as a read
VALUES (1, 'a'), (2, 'b');
-- read, same as
SELECT column1, column2 FROM (VALUES (1, 'a'), (2, 'b')) AS t (column1, column2);

-- name: VALUES in FROM
SELECT x, y FROM (VALUES (1, 'a'), (2, 'b')) AS t (x, y) ORDER BY x;
-- read, same as
SELECT x, y FROM VALUES (1, 'a'), (2, 'b') AS t (x, y) ORDER BY x;

-- name: a computed constant
SELECT 1 + 1 AS two, 'x' AS letter;
-- read, same as
SELECT two, letter FROM (VALUES (1 + 1, 'x')) AS t (two, letter);

-- name: a join of tables in a read
SELECT u.name, a.balance FROM users u INNER JOIN accounts a USING (user_id) WHERE a.balance > 100 ORDER BY 2 DESC;
-- read, same as
SELECT u.name, a.balance FROM users u JOIN accounts a ON u.user_id = a.user_id WHERE a.balance > 100 ORDER BY 2 DESC;

-- name: UNION in a read
SELECT region FROM users UNION SELECT region FROM customers;
-- read, same as
SELECT DISTINCT region FROM (SELECT region FROM users UNION ALL SELECT region FROM customers) t;

-- name: UNION of tables that change
CREATE TABLE regions AS SELECT region FROM users UNION SELECT name FROM users;
-- same as
CREATE TABLE regions AS SELECT region FROM users UNION DISTINCT SELECT name FROM users;

-- name: INTERSECT of tables that change
CREATE TABLE known AS SELECT user_id FROM users INTERSECT SELECT user_id FROM accounts;
-- same as
CREATE TABLE known AS SELECT user_id FROM users INTERSECT DISTINCT SELECT user_id FROM accounts;

-- name: INTERSECT in a read
SELECT user_id FROM users INTERSECT SELECT user_id FROM accounts;
-- read, same as
SELECT user_id FROM users INTERSECT DISTINCT SELECT user_id FROM accounts;

-- name: EXCEPT in a read
SELECT user_id FROM users EXCEPT SELECT user_id FROM accounts;
-- read, same as
SELECT user_id FROM users EXCEPT DISTINCT SELECT user_id FROM accounts;

-- name: a cross join in a read
SELECT u.name, a.balance FROM users u CROSS JOIN accounts a;
-- read, same as
SELECT u.name, a.balance FROM users u JOIN accounts a ON TRUE;

-- name: a comma join in a read
SELECT u.name, a.balance FROM users u, accounts a WHERE u.user_id = a.user_id;
-- read, same as
SELECT u.name, a.balance FROM users u JOIN accounts a ON TRUE WHERE u.user_id = a.user_id;

-- name: MATERIALIZED VIEW
CREATE MATERIALIZED VIEW totals AS SELECT user_id, SUM(amount) AS total FROM orders GROUP BY user_id;
-- same as
CREATE TABLE totals AS SELECT user_id, SUM(amount) AS total FROM orders GROUP BY user_id;

-- name: TABLE as a query
TABLE users;
-- read, same as
SELECT * FROM users;

-- name: a recursive query
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT i FROM n;
-- read, refused: S001

-- name: SELECT FOR UPDATE
SELECT * FROM users FOR UPDATE;
-- read, refused: S001

-- name: UPDATE of a table
UPDATE customers SET region = 'north' WHERE id = 1;
-- refused: S001

-- name: DELETE from a table
DELETE FROM customers WHERE id = 1;
-- refused: S001

-- name: a series alone
SELECT i * 2 AS even FROM generate_series(1, 5) AS i;
-- read, same as
SELECT i * 2 AS even FROM UNNEST(CASE WHEN 5 >= 1 THEN SEQUENCE(1, 5) END) AS i;

-- name: the elements of an array alone
SELECT * FROM unnest(ARRAY[1, 2]) WITH ORDINALITY AS t (e, n);
-- read, same as
SELECT e, n FROM UNNEST(ARRAY(1, 2)) WITH ORDINALITY AS t (e, n);

-- name: a view of rows that are known
CREATE VIEW grades AS SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS g (n, grade);
SELECT STREAM order_id, grade FROM orders JOIN grades ON quantity = n;
-- refused: K024
