CREATE TABLE out_ (auction BIGINT, bids BIGINT, window_start TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = '$out', 'format' = 'csv');

INSERT INTO out_
SELECT auction, bids, window_start FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY bids DESC, auction) AS place FROM (
    SELECT auction, window_start, window_end, COUNT(*) AS bids
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(`time`), INTERVAL '10' SECOND, INTERVAL '1' MINUTE))
    GROUP BY auction, window_start, window_end))
WHERE place <= 3;
