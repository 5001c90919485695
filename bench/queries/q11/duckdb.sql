WITH starts AS (
  SELECT *, time - lag(time) OVER by_time > INTERVAL '$length' $unit AS is_new FROM bid
  WINDOW by_time AS (PARTITION BY bidder ORDER BY time)),
sessions AS (
  SELECT *, count(*) FILTER (is_new) OVER (PARTITION BY bidder ORDER BY time) AS session FROM starts)
SELECT bidder, count(*) AS bids, min(time) AS window_start, max(time) + INTERVAL '$length' $unit AS window_end
FROM sessions GROUP BY bidder, session;
