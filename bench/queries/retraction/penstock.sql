CREATE TABLE out (category BIGINT PRIMARY KEY, items BIGINT, total BIGINT)
WITH (connector = 'files', path = '$out', format = 'csv', header = false, operation = 'op');

INSERT INTO out SELECT category, COUNT(*) AS items, SUM(price) AS total FROM item GROUP BY category;
