-- The same 1,000 orders in each run with this seed, of 50 seconds, and their totals by ten seconds.
CREATE STREAM orders (
  id BIGINT KEY,
  product STRING,
  price DECIMAL(10, 2),
  time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '2' SECOND
)
WITH (
  connector = 'datagen',
  rows_per_second = 20,
  number_of_rows = 1000,
  seed = 7,
  start_time = '2026-01-01 08:00:00',
  fields.id.kind = 'sequence',
  fields.product.length = 1,
  fields.price.min = 0.50,
  fields.price.max = 250,
  fields.time.max_past = 2 SECONDS
);

CREATE STREAM totals AS
SELECT STREAM product, window_start, COUNT(*) AS orders, SUM(price) AS total
FROM orders
GROUP BY product, TUMBLE(time, INTERVAL '10' SECOND);
