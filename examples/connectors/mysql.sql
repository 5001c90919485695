-- A table of MySQL or MariaDB with one row for each day, which each micro-batch inserts or updates.
CREATE STREAM orders (id BIGINT KEY, day DATE, price DECIMAL(10, 2))
WITH (connector = 'files', path = 'data/orders', format = 'json');

CREATE TABLE totals (day DATE PRIMARY KEY, orders BIGINT, total DECIMAL(20, 2))
WITH (
  connector = 'mysql',
  url = 'mysql://shop@db.example/shop',
  password = ENV('MYSQL_PASSWORD'),
  table = 'totals'
);

INSERT INTO totals
SELECT day, COUNT(*) AS orders, SUM(price) AS total
FROM orders
WHERE day IS NOT NULL
GROUP BY day;
