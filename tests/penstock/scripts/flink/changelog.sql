-- Totals of customers from topics that keep the newest row of each key.
CREATE TABLE customers (id BIGINT, name STRING, region STRING, PRIMARY KEY (id) NOT ENFORCED)
WITH (
  'connector' = 'upsert-kafka', 'topic' = 'customers', 'properties.bootstrap.servers' = 'broker:9092',
  'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE orders (order_id BIGINT, customer_id BIGINT, amount DECIMAL(10, 2), ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'broker:9092',
  'key.format' = 'json', 'key.fields' = 'order_id', 'value.format' = 'json', 'value.fields-include' = 'EXCEPT_KEY'
);
CREATE TABLE totals (customer_id BIGINT, orders BIGINT, amount DECIMAL(38, 2), PRIMARY KEY (customer_id) NOT ENFORCED)
WITH (
  'connector' = 'upsert-kafka', 'topic' = 'totals', 'properties.bootstrap.servers' = 'broker:9092',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO totals SELECT customer_id, COUNT(*), SUM(amount) FROM orders GROUP BY customer_id;

CREATE TEMPORARY VIEW regions AS SELECT region, COUNT(*) AS customers FROM customers GROUP BY region;
SELECT * FROM regions;
