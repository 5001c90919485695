SELECT auction, bidder, price, time, SUM(price) OVER recent AS total, COUNT(*) OVER recent AS bids,
  AVG(price) OVER recent AS mean
FROM bid
WINDOW recent AS (PARTITION BY $key ORDER BY time RANGE BETWEEN INTERVAL '$length' $unit PRECEDING AND CURRENT ROW);
