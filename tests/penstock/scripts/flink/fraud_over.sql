-- Sums over the last hour of each account, and those that are too large.
CREATE TABLE payments (
  id BIGINT, account BIGINT, amount DOUBLE, country STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
) WITH ('connector' = 'filesystem', 'path' = 'in/payments', 'format' = 'csv');

CREATE VIEW sums AS
SELECT id, account, amount, ts,
  SUM(amount) OVER w AS sum_hour,
  COUNT(*) OVER w AS num_hour,
  MAX(amount) OVER (PARTITION BY account ORDER BY ts ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) AS most
FROM payments
WINDOW w AS (PARTITION BY account ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW);

CREATE TABLE suspects (id BIGINT, account BIGINT, sum_hour DOUBLE, ts TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'out/suspects', 'format' = 'json');

INSERT INTO suspects SELECT id, account, sum_hour, ts FROM sums WHERE sum_hour > 10000 AND num_hour > 3;
