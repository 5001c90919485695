-- Orders in euros, by the rate of their time.
-- refused: 1
CREATE TABLE currency_rates (
  currency STRING, rate DECIMAL(32, 10), update_time TIMESTAMP(3),
  WATERMARK FOR update_time AS update_time - INTERVAL '5' SECOND, PRIMARY KEY (currency) NOT ENFORCED
) WITH ('connector' = 'filesystem', 'path' = 'in/rates', 'format' = 'json');
CREATE TABLE orders (
  order_id STRING, price DECIMAL(12, 2), currency STRING, order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/orders', 'format' = 'json');

CREATE TABLE converted (order_id STRING, price DECIMAL(12, 2), currency STRING, euros DOUBLE, day STRING)
WITH ('connector' = 'filesystem', 'path' = 'out/converted', 'format' = 'json');

INSERT INTO converted
SELECT o.order_id, o.price, o.currency, CAST(o.price AS DOUBLE) * CAST(r.rate AS DOUBLE), DATE_FORMAT(o.order_time, 'yyyy-MM-dd')
FROM orders AS o
LEFT JOIN currency_rates FOR SYSTEM_TIME AS OF o.order_time AS r ON o.currency = r.currency
WHERE o.currency IN ('USD', 'GBP', 'JPY') AND EXTRACT(HOUR FROM o.order_time) >= 6;

CREATE TABLE days (currency STRING, orders BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out/days', 'format' = 'json');
INSERT INTO days
SELECT currency, COUNT(*) FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '1' HOUR, INTERVAL '1' DAY))
GROUP BY window_start, window_end, currency;
