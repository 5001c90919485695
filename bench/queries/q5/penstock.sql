CREATE STREAM out (auction BIGINT, bids BIGINT, window_start TIMESTAMP)
WITH (connector = 'files', path = '$out', format = 'csv', header = false);

INSERT INTO out
SELECT STREAM auction, bids, window_start FROM (
  SELECT STREAM auction, window_start, COUNT(*) AS bids FROM bid
  GROUP BY auction, HOP(time, INTERVAL '10' SECOND, INTERVAL '1' MINUTE)
) QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY bids DESC, auction) <= 3;
