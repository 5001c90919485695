-- Payments that are too frequent: the same card several times within half a minute.
SET 'auto.offset.reset' = 'earliest';

CREATE STREAM transactions (
  tx_id VARCHAR KEY,
  email_address VARCHAR,
  card_number VARCHAR,
  ts TIMESTAMP,
  amount DECIMAL(5, 2)
) WITH (
  KAFKA_TOPIC = 'transactions',
  PARTITIONS = 8,
  VALUE_FORMAT = 'JSON',
  TIMESTAMP = 'ts'
);

CREATE TABLE possible_anomalies WITH (
  KAFKA_TOPIC = 'possible_anomalies',
  VALUE_FORMAT = 'JSON'
) AS
SELECT
  card_number AS `card_number_key`,
  AS_VALUE(card_number) AS `card_number`,
  LATEST_BY_OFFSET(email_address) AS `email_address`,
  COUNT(*) AS `n_attempts`,
  SUM(amount) AS `total_amount`,
  COLLECT_LIST(tx_id) AS `tx_ids`,
  WINDOWSTART AS `start_boundary`,
  WINDOWEND AS `end_boundary`
FROM transactions
WINDOW TUMBLING (SIZE 30 SECONDS, RETENTION 1000 DAYS)
GROUP BY card_number
HAVING COUNT(*) >= 3
EMIT CHANGES;
