-- A table in a file of SQLite, with one row for each product, which each micro-batch inserts or updates.
CREATE STREAM orders (id BIGINT KEY, product STRING, pieces INT)
WITH (connector = 'files', path = 'data/orders', format = 'json');

CREATE TABLE totals (product STRING PRIMARY KEY, orders BIGINT, pieces BIGINT)
WITH (connector = 'sqlite', path = 'shop.db', table = 'totals');

INSERT INTO totals
SELECT product, COUNT(*) AS orders, SUM(pieces) AS pieces
FROM orders
WHERE product IS NOT NULL
GROUP BY product;
