CREATE TABLE out_ (auction BIGINT, price BIGINT, bidder BIGINT, `time` TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = '$out', 'format' = 'csv');

INSERT INTO out_
SELECT b.auction, b.price, b.bidder, b.`time`
FROM bid b JOIN (
  SELECT MAX(price) AS highest, window_start, window_end, window_time
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`time`), INTERVAL '1' MINUTE))
  GROUP BY window_start, window_end, window_time
) w ON b.price = w.highest AND b.`time` > w.window_time - INTERVAL '1' MINUTE AND b.`time` <= w.window_time;
