-- Clicks from one topic, their counts by minute to another one, each micro-batch once.
CREATE STREAM clicks (
  user STRING KEY,
  page STRING,
  time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '30' SECOND
)
WITH (
  connector = 'kafka',
  bootstrap_servers = 'broker:9092',
  topic = 'clicks',
  format = 'json',
  starting = 'earliest'
);

CREATE STREAM counts
WITH (
  connector = 'kafka',
  bootstrap_servers = 'broker:9092',
  topic = 'counts',
  format = 'json',
  delivery = 'exactly_once',
  create = 'if_missing'
) AS
SELECT STREAM page, window_start, COUNT(*) AS clicks
FROM clicks
GROUP BY page, TUMBLE(time, INTERVAL '1' MINUTE);
