-- Each dear order is a line such as `dear> +I[1, lamp, 140.00]`.
CREATE STREAM orders (id BIGINT, product STRING, price DECIMAL(10, 2))
WITH (connector = 'files', path = 'data/orders', format = 'json');

CREATE STREAM dear
WITH (connector = 'print', print_identifier = 'dear') AS
SELECT STREAM id, product, price
FROM orders
WHERE price > 100;
