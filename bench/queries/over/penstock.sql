CREATE STREAM out (auction BIGINT, bidder BIGINT, price BIGINT, time TIMESTAMP, total BIGINT, bids BIGINT, mean DOUBLE)
WITH (connector = 'files', path = '$out', format = 'csv', header = false);

INSERT INTO out
SELECT STREAM auction, bidder, price, time,
  SUM(price) OVER recent AS total, COUNT(*) OVER recent AS bids, AVG(price) OVER recent AS mean
FROM bid
WINDOW recent AS (PARTITION BY $key ORDER BY time RANGE INTERVAL '$length' $unit PRECEDING);
