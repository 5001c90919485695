CREATE STREAM out (bidder BIGINT, bids BIGINT, window_start TIMESTAMP)
WITH (connector = 'files', path = '$out', format = 'csv', header = false);

INSERT INTO out
SELECT STREAM bidder, COUNT(*) AS bids, window_start FROM bid GROUP BY bidder, TUMBLE(time, INTERVAL '10' SECOND);
