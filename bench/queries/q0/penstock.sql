CREATE STREAM out (auction BIGINT, bidder BIGINT, price BIGINT, time TIMESTAMP, channel STRING, url STRING)
WITH (connector = 'files', path = '$out', format = 'csv', header = false);

INSERT INTO out
SELECT STREAM auction, bidder, price, time, channel, url FROM bid;
