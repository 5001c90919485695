SELECT auction, time_bucket(INTERVAL '$length' $unit, time) AS window_start, count(*) AS bids, avg(price) AS mean,
  max(price) AS highest
FROM bid GROUP BY ALL;
