CREATE STREAM out (auction BIGINT, bidder BIGINT, price DOUBLE, time TIMESTAMP)
WITH (connector = 'files', path = '$out', format = 'csv', header = false);

INSERT INTO out
SELECT STREAM auction, bidder, 0.908E0 * price AS price, time FROM bid;
