-- The three best products of each five minutes.
CREATE TABLE clicks (
  product STRING, user_id BIGINT, click_time TIMESTAMP(3), WATERMARK FOR click_time AS click_time - INTERVAL '10' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/clicks', 'format' = 'json');

CREATE TABLE best (window_start TIMESTAMP(3), product STRING, clicks BIGINT, place BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'out/best', 'format' = 'json');

INSERT INTO best
SELECT window_start, product, clicks, place FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY clicks DESC) AS place
  FROM (
    SELECT window_start, window_end, product, COUNT(*) AS clicks
    FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(click_time), INTERVAL '5' MINUTES))
    GROUP BY window_start, window_end, product
  )
) WHERE place <= 3;
