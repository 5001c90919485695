CREATE TABLE out_ (auction BIGINT, bidder BIGINT, price BIGINT, `time` TIMESTAMP(3), total BIGINT, bids BIGINT, mean DOUBLE)
WITH ('connector' = 'filesystem', 'path' = '$out', 'format' = 'csv');

INSERT INTO out_
SELECT auction, bidder, price, `time`,
  SUM(price) OVER recent, COUNT(*) OVER recent, AVG(CAST(price AS DOUBLE)) OVER recent
FROM bid
WINDOW recent AS (
  PARTITION BY $key ORDER BY `time` RANGE BETWEEN INTERVAL '$length' $unit PRECEDING AND CURRENT ROW);
