-- Orders are appended to one table of Delta Lake. The totals of another one are kept by MERGE.
CREATE STREAM orders (id BIGINT KEY, product STRING, price DECIMAL(10, 2))
WITH (connector = 'files', path = 'data/orders', format = 'json');

CREATE STREAM history
WITH (connector = 'delta', path = 'lake/orders') AS
SELECT STREAM id, product, price
FROM orders;

CREATE TABLE totals (product STRING PRIMARY KEY, orders BIGINT, total DECIMAL(20, 2))
WITH (connector = 'delta', path = 'lake/totals');

INSERT INTO totals
SELECT product, COUNT(*) AS orders, SUM(price) AS total
FROM orders
WHERE product IS NOT NULL
GROUP BY product;
