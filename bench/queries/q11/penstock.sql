CREATE STREAM out (bidder BIGINT, bids BIGINT, window_start TIMESTAMP, window_end TIMESTAMP)
WITH (connector = 'files', path = '$out', format = 'csv', header = false);

INSERT INTO out
SELECT STREAM bidder, COUNT(*) AS bids, window_start, window_end FROM bid
GROUP BY bidder, SESSION(time, INTERVAL '$length' $unit);
