-- What a query costs without its sink: the totals are computed and counted, and go nowhere.
CREATE STREAM orders (id BIGINT, product STRING, price DECIMAL(10, 2))
WITH (connector = 'files', path = 'data/orders', format = 'json');

CREATE TABLE totals
WITH (connector = 'blackhole') AS
SELECT product, SUM(price) AS total
FROM orders
GROUP BY product;
