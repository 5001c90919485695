-- Queries of Spark SQL.

-- name: GROUP BY ordinals
CREATE VIEW totals AS SELECT user_id, product, SUM(amount) AS total FROM orders GROUP BY 1, 2;
-- same as
CREATE VIEW totals AS SELECT user_id, product, SUM(amount) AS total FROM orders GROUP BY user_id, product;

-- name: GROUP BY an alias
CREATE VIEW totals AS SELECT UPPER(product) AS name, SUM(amount) AS total FROM orders GROUP BY name;
-- same as
CREATE VIEW totals AS SELECT UPPER(product) AS name, SUM(amount) AS total FROM orders GROUP BY UPPER(product);

-- name: GROUP BY ALL
CREATE VIEW totals AS SELECT user_id, product, SUM(amount) AS total FROM orders GROUP BY ALL;
-- same as
CREATE VIEW totals AS SELECT user_id, product, SUM(amount) AS total FROM orders GROUP BY user_id, product;

-- name: HAVING over an alias
CREATE VIEW totals AS SELECT user_id, SUM(amount) AS total FROM orders GROUP BY user_id HAVING total > 10;
-- same as
CREATE VIEW totals AS SELECT user_id, SUM(amount) AS total FROM orders GROUP BY user_id HAVING SUM(amount) > 10;

-- name: a lateral column alias
CREATE VIEW computed AS SELECT amount * quantity AS total, total * 2 AS doubled FROM orders;
-- same as
CREATE VIEW computed AS SELECT amount * quantity AS total, amount * quantity * 2 AS doubled FROM orders;

-- name: a lateral alias that is a column, too
-- The column comes first.
CREATE VIEW computed AS SELECT quantity + 1 AS quantity, quantity * 2 AS doubled FROM orders;
-- same as
CREATE VIEW computed AS SELECT quantity + 1 AS quantity, orders.quantity * 2 AS doubled FROM orders;

-- name: an alias in WHERE
-- WHERE does not know the names of the SELECT list, in Spark as here.
CREATE VIEW computed AS SELECT amount * quantity AS total FROM orders WHERE total > 10;
-- refused: N001

-- name: QUALIFY over an alias
CREATE STREAM firsts AS
SELECT STREAM order_id,
  ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY order_time RANGE INTERVAL 1 HOUR PRECEDING) AS n
FROM orders QUALIFY n = 1;
-- same as
CREATE STREAM firsts AS
SELECT STREAM order_id,
  ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY order_time RANGE INTERVAL 1 HOUR PRECEDING) AS n
FROM orders
QUALIFY ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY order_time RANGE INTERVAL 1 HOUR PRECEDING) = 1;

-- name: LATERAL VIEW EXPLODE
CREATE VIEW tagged AS SELECT id, tag FROM events LATERAL VIEW EXPLODE(tags) t AS tag;
-- same as
CREATE VIEW tagged AS SELECT id, t.tag FROM events CROSS JOIN UNNEST(tags) AS t (tag);

-- name: LATERAL VIEW OUTER EXPLODE
CREATE VIEW tagged AS SELECT id, tag FROM events LATERAL VIEW OUTER EXPLODE(tags) t AS tag;
-- same as
CREATE VIEW tagged AS SELECT id, t.tag FROM events LEFT JOIN UNNEST(tags) AS t (tag) ON TRUE;

-- name: EXPLODE in the SELECT list
CREATE VIEW tagged AS SELECT id, EXPLODE(tags) AS tag FROM events;
-- same as
CREATE VIEW tagged AS SELECT id, t.tag AS tag FROM events CROSS JOIN UNNEST(tags) AS t (tag);

-- name: POSEXPLODE
CREATE VIEW tagged AS SELECT id, n, tag FROM events LATERAL VIEW POSEXPLODE(tags) t AS n, tag;
-- same as
CREATE VIEW tagged AS SELECT id, t.n, t.tag FROM events LATERAL VIEW posexplode(tags) t AS n, tag;

-- name: star EXCEPT
CREATE VIEW fewer AS SELECT * EXCEPT (currency, quantity) FROM orders;
-- same as
CREATE VIEW fewer AS SELECT order_id, user_id, product, amount, order_time FROM orders;

-- name: the star of a struct
CREATE VIEW homes AS SELECT id, address.* FROM events;
-- same as
CREATE VIEW homes AS SELECT id, address.city, address.zip FROM events;

-- name: names of columns behind an alias
CREATE VIEW renamed AS SELECT u.a, u.b FROM users AS u (a, b, c, d);
-- same as
CREATE VIEW renamed AS SELECT u.a, u.b FROM (SELECT user_id, name, region, gender FROM users) AS u (a, b, c, d);

-- name: stars of one side
CREATE STREAM enriched AS SELECT STREAM o.*, u.name FROM orders o JOIN users u ON o.user_id = u.user_id;
-- same as
CREATE STREAM enriched AS
SELECT STREAM o.order_id, o.user_id, o.product, o.amount, o.currency, o.quantity, o.order_time, u.name
FROM orders o JOIN users u ON o.user_id = u.user_id;

-- name: a stream-stream join
CREATE STREAM clicked AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time >= o.order_time AND s.ship_time <= o.order_time + INTERVAL 1 HOUR;
-- same as
CREATE STREAM clicked AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: a left outer stream-stream join
CREATE STREAM clicked AS
SELECT STREAM o.order_id, s.carrier FROM orders o LEFT OUTER JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time >= o.order_time AND s.ship_time <= o.order_time + interval 1 hour;
-- same as
CREATE STREAM clicked AS
SELECT STREAM o.order_id, s.carrier FROM orders o LEFT JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- name: a stream-stream join without a time
-- Spark accepts an inner join without a bound and keeps both streams forever.
CREATE STREAM clicked AS
SELECT STREAM o.order_id, s.carrier FROM orders o JOIN shipments s ON o.order_id = s.order_id;
-- refused: J001, INTERVAL

-- name: LEFT SEMI JOIN
CREATE STREAM shipped AS
SELECT STREAM o.order_id FROM orders o LEFT SEMI JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL 1 HOUR;
-- same as
CREATE STREAM shipped AS
SELECT STREAM o.order_id FROM orders o LEFT SEMI JOIN shipments s
WITHIN (0 SECONDS BEFORE, 1 HOUR AFTER) ON s.order_id = o.order_id;

-- name: SEMI JOIN and ANTI JOIN without LEFT
CREATE STREAM unshipped AS
SELECT STREAM o.order_id FROM orders o ANTI JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL 1 HOUR;
-- same as
CREATE STREAM unshipped AS
SELECT STREAM o.order_id FROM orders o LEFT ANTI JOIN shipments s
ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL 1 HOUR;

-- name: a join hint
CREATE STREAM enriched AS
SELECT STREAM /*+ BROADCAST(u) */ o.order_id, u.name FROM orders o JOIN users u ON o.user_id = u.user_id;
-- same as
CREATE STREAM enriched AS SELECT STREAM o.order_id, u.name FROM orders o JOIN users u ON o.user_id = u.user_id;

-- name: SORT BY
CREATE STREAM sorted AS SELECT STREAM order_id FROM orders SORT BY amount;
-- refused: S001

-- name: DISTRIBUTE BY
CREATE STREAM spread AS SELECT STREAM * FROM orders DISTRIBUTE BY product;
-- refused: S001

-- name: TABLESAMPLE
CREATE STREAM sample AS SELECT STREAM * FROM orders TABLESAMPLE (10 PERCENT);
-- refused: S001

-- name: PIVOT
CREATE VIEW sums AS
SELECT * FROM (SELECT user_id, product, amount FROM orders) PIVOT (SUM(amount) FOR product IN ('a', 'b'));
-- refused: S001

-- name: the first row of a key within a time
CREATE STREAM firsts AS
SELECT STREAM order_id, user_id FROM orders
QUALIFY ROW_NUMBER() OVER (PARTITION BY order_id ORDER BY order_time RANGE INTERVAL 1 HOUR PRECEDING) = 1;
-- same as
CREATE STREAM firsts AS
SELECT STREAM order_id, user_id FROM orders
QUALIFY ROW_NUMBER() OVER (PARTITION BY order_id ORDER BY order_time RANGE INTERVAL '1' HOUR PRECEDING) = 1;

-- name: SELECT of a constant
SELECT 1 AS one;
-- read, same as
SELECT one FROM (VALUES (1)) AS t (one);

-- name: VALUES in FROM
SELECT a, b FROM VALUES (1, 'x'), (2, 'y') AS t (a, b);
-- read, same as
SELECT a, b FROM (VALUES (1, 'x'), (2, 'y')) AS t (a, b);

-- name: a read with ORDER BY and LIMIT
SELECT user_id, name FROM users WHERE region = 'north' ORDER BY name DESC NULLS LAST LIMIT 10;
-- read, same as
SELECT user_id, name FROM users WHERE region = 'north' ORDER BY name DESC NULLS LAST LIMIT 10;

-- name: a read with a natural join
SELECT name, balance FROM users NATURAL JOIN accounts;
-- read, refused: J022, USING

-- name: from first
FROM orders SELECT order_id;
-- refused: S001

-- name: pipes
FROM orders |> WHERE amount > 10 |> SELECT order_id;
-- refused: S001

-- name: SELECT TRANSFORM
SELECT TRANSFORM (order_id) USING 'cat' FROM orders;
-- refused: S001
