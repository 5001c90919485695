-- A table that lives as long as the process: `penstock run --once` shows it, and Session.sql reads it.
CREATE STREAM orders (id BIGINT, product STRING, price DECIMAL(10, 2))
WITH (connector = 'files', path = 'data/orders', format = 'json');

CREATE TABLE totals
WITH (connector = 'memory') AS
SELECT product, SUM(price) AS total
FROM orders
GROUP BY product;
