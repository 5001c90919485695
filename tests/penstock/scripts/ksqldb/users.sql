-- Events about users: unpacking JSON, re-keying, counting.
-- refused: 1
CREATE STREAM raw_events (payload VARCHAR, received TIMESTAMP)
  WITH (KAFKA_TOPIC = 'raw_events', VALUE_FORMAT = 'JSON', PARTITIONS = 2, TIMESTAMP = 'received');

CREATE STREAM events WITH (KAFKA_TOPIC = 'events', PARTITIONS = 4, REPLICAS = 1) AS
  SELECT EXTRACTJSONFIELD(payload, '$.user') AS user_id, EXTRACTJSONFIELD(payload, '$.kind') AS kind,
    CAST(EXTRACTJSONFIELD(payload, '$.amount') AS DOUBLE) AS amount,
    COALESCE(EXTRACTJSONFIELD(payload, '$.country'), 'unknown') AS country, received
  FROM raw_events
  WHERE payload IS NOT NULL
  PARTITION BY EXTRACTJSONFIELD(payload, '$.user')
  EMIT CHANGES;

CREATE TABLE kinds AS
  SELECT user_id, kind, COUNT(*) AS num, SUM(amount) AS amount FROM events GROUP BY user_id, kind EMIT CHANGES;

CREATE TABLE histogram AS
  SELECT user_id, COLLECT_SET(country) AS countries FROM events GROUP BY user_id EMIT CHANGES;

SELECT user_id, kind FROM events WHERE amount > 100 EMIT CHANGES LIMIT 10;
