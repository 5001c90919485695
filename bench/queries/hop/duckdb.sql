SELECT auction, time_bucket(INTERVAL '$slide' $unit, time) - hop * INTERVAL '$slide' $unit AS window_start, count(*) AS bids,
  avg(price) AS mean, max(price) AS highest
FROM bid, range($hops) hops(hop) GROUP BY ALL;
