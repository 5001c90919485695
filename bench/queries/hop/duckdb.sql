SELECT auction, time_bucket(INTERVAL 10 SECOND, time) - hop * INTERVAL 10 SECOND AS window_start, count(*) AS bids,
  avg(price) AS mean, max(price) AS highest
FROM bid, range(6) hops(hop) GROUP BY ALL;
