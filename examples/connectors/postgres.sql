-- A table of PostgreSQL with one row for each product, which each micro-batch inserts or updates.
CREATE STREAM orders (id BIGINT KEY, product STRING, price DECIMAL(10, 2))
WITH (connector = 'files', path = 'data/orders', format = 'json');

CREATE TABLE totals (product STRING PRIMARY KEY, orders BIGINT, total DECIMAL(20, 2))
WITH (
  connector = 'postgres',
  url = 'postgresql://shop@db.example/shop',
  password = ENV('PGPASSWORD'),
  table = 'totals'
);

INSERT INTO totals
SELECT product, COUNT(*) AS orders, SUM(price) AS total
FROM orders
WHERE product IS NOT NULL
GROUP BY product;
