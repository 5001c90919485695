SELECT bidder, count(*) AS bids, time_bucket(INTERVAL 10 SECOND, time) AS window_start FROM bid GROUP BY ALL;
