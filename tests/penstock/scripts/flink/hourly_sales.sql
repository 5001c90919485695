-- Sales per hour and shop, from Kafka to files.
SET 'execution.checkpointing.interval' = '30s';

CREATE TABLE sales (
  sale_id BIGINT,
  shop STRING,
  product STRING,
  quantity INT,
  price DECIMAL(10, 2),
  sold_at TIMESTAMP_LTZ(3),
  WATERMARK FOR sold_at AS sold_at - INTERVAL '30' SECOND
) WITH (
  'connector' = 'kafka',
  'topic' = 'sales',
  'properties.bootstrap.servers' = 'broker:9092',
  'properties.group.id' = 'reports',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'json'
);

CREATE TABLE hourly_sales (
  shop STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), turnover DECIMAL(38, 2), pieces BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/hourly_sales', 'format' = 'json');

INSERT INTO hourly_sales
SELECT shop, window_start, window_end, SUM(price * quantity) AS turnover, SUM(quantity) AS pieces
FROM TABLE(TUMBLE(TABLE sales, DESCRIPTOR(sold_at), INTERVAL '1' HOUR))
GROUP BY shop, window_start, window_end;
