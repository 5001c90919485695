CREATE STREAM out (auction BIGINT, price BIGINT, bidder BIGINT, time TIMESTAMP)
WITH (connector = 'files', path = '$out', format = 'csv', header = false);

INSERT INTO out
SELECT STREAM b.auction AS auction, b.price AS price, b.bidder AS bidder, b.time AS time
FROM bid b JOIN (
  SELECT STREAM MAX(price) AS highest, window_start, window_end FROM bid GROUP BY TUMBLE(time, INTERVAL '1' MINUTE)
) w ON b.price = w.highest AND b.time >= w.window_start AND b.time < w.window_start + INTERVAL '1' MINUTE;
