CREATE TABLE out_ (auction BIGINT, window_start TIMESTAMP(3), bids BIGINT, mean DOUBLE, highest BIGINT)
WITH ('connector' = 'filesystem', 'path' = '$out', 'format' = 'csv');

INSERT INTO out_
SELECT auction, window_start, COUNT(*) AS bids, AVG(CAST(price AS DOUBLE)) AS mean, MAX(price) AS highest
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(`time`), INTERVAL '$slide' $unit, INTERVAL '$length' $unit))
GROUP BY auction, window_start, window_end;
