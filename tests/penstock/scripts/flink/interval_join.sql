-- Orders with the payments that follow within four hours; both from CSV files.
CREATE TABLE orders (
  order_id STRING, customer STRING, total DECIMAL(12, 2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '1' MINUTE
) WITH ('connector' = 'filesystem', 'path' = 'in/orders', 'format' = 'csv');
CREATE TABLE payments (
  pay_id STRING, order_id STRING, method STRING, pay_time TIMESTAMP(3),
  WATERMARK FOR pay_time AS pay_time - INTERVAL '1' MINUTE
) WITH ('connector' = 'filesystem', 'path' = 'in/payments', 'format' = 'csv');

CREATE TABLE paid (order_id STRING, customer STRING, method STRING, seconds BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'out/paid', 'format' = 'json');
CREATE TABLE unpaid (order_id STRING, customer STRING)
WITH ('connector' = 'filesystem', 'path' = 'out/unpaid', 'format' = 'json');

EXECUTE STATEMENT SET
BEGIN
INSERT INTO paid
SELECT o.order_id, o.customer, p.method, TIMESTAMPDIFF(SECOND, o.order_time, p.pay_time)
FROM orders o JOIN payments p ON o.order_id = p.order_id
AND p.pay_time BETWEEN o.order_time AND o.order_time + INTERVAL '4' HOUR;

INSERT INTO unpaid
SELECT o.order_id, o.customer
FROM orders o LEFT JOIN payments p ON o.order_id = p.order_id
AND p.pay_time BETWEEN o.order_time AND o.order_time + INTERVAL '4' HOUR
WHERE p.pay_id IS NULL;
END;
