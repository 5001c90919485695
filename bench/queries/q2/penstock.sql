CREATE STREAM out (auction BIGINT, price BIGINT)
WITH (connector = 'files', path = '$out', format = 'csv', header = false);

INSERT INTO out
SELECT STREAM auction, price FROM bid WHERE MOD(auction, 123) = 0;
