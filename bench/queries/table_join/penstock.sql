CREATE TABLE out (id BIGINT PRIMARY KEY, seller BIGINT, price BIGINT, bidder BIGINT, amount BIGINT)
WITH (connector = 'files', path = '$out', format = 'csv', header = false, operation = 'op');

INSERT INTO out
SELECT i.id AS id, i.seller AS seller, i.price AS price, o.bidder AS bidder, o.amount AS amount
FROM item i LEFT JOIN offer o ON i.id = o.id;
