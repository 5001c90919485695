-- Dear orders are printed as they come.
CREATE STREAM orders (id BIGINT, product STRING, price DECIMAL(10, 2))
WITH (connector = 'files', path = 'data/orders', format = 'json');

CREATE STREAM dear
WITH (connector = 'console') AS
SELECT STREAM id, product, price
FROM orders
WHERE price > 100;
