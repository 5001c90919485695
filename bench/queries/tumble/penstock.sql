CREATE STREAM out (auction BIGINT, window_start TIMESTAMP, bids BIGINT, mean DOUBLE, highest BIGINT)
WITH (connector = 'files', path = '$out', format = 'csv', header = false);

INSERT INTO out
SELECT STREAM auction, window_start, COUNT(*) AS bids, AVG(price) AS mean, MAX(price) AS highest FROM bid
GROUP BY auction, TUMBLE(time, INTERVAL '$length' $unit);
