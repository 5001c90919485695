-- Orders come as lines of JSON. Their totals by hour go to Parquet files.
CREATE STREAM orders (
  id BIGINT KEY,
  product STRING,
  price DECIMAL(10, 2),
  time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '1' MINUTE
)
WITH (connector = 'files', path = 'data/orders', format = 'json');

CREATE STREAM hourly
WITH (connector = 'files', path = 'data/hourly', format = 'parquet') AS
SELECT STREAM product, window_start, COUNT(*) AS orders, SUM(price) AS total
FROM orders
GROUP BY product, TUMBLE(time, INTERVAL '1' HOUR);
