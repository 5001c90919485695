WITH hops AS (
  SELECT auction, time_bucket(INTERVAL 10 SECOND, time) - hop * INTERVAL 10 SECOND AS window_start
  FROM bid, range(6) hops(hop)),
counts AS (SELECT auction, count(*) AS bids, window_start FROM hops GROUP BY ALL)
FROM counts QUALIFY row_number() OVER (PARTITION BY window_start ORDER BY bids DESC, auction) <= 3;
