SELECT auction, time_bucket(INTERVAL 1 MINUTE, time) AS window_start, count(*) AS bids, avg(price) AS mean,
  max(price) AS highest
FROM bid GROUP BY ALL;
