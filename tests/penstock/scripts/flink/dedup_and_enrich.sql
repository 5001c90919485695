-- Events once each, with what a database knows of their users.
CREATE TABLE events (
  event_id STRING, user_id BIGINT, kind STRING, payload STRING, proc_time AS PROCTIME(), ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka', 'topic' = 'events', 'properties.bootstrap.servers' = 'broker:9092', 'format' = 'json');

CREATE TABLE users (
  id BIGINT, name STRING, city STRING, PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'jdbc', 'url' = 'jdbc:postgresql://db:5432/shop', 'table-name' = 'users',
  'username' = 'reader', 'password' = 'secret', 'lookup.cache.max-rows' = '1000'
);

CREATE TABLE enriched (
  event_id STRING, name STRING, city STRING, kind STRING, amount STRING
) WITH ('connector' = 'print');

INSERT INTO enriched
SELECT e.event_id, u.name, u.city, UPPER(e.kind), JSON_VALUE(e.payload, '$.amount')
FROM events AS e
LEFT JOIN users FOR SYSTEM_TIME AS OF e.proc_time AS u ON e.user_id = u.id
WHERE e.kind <> 'heartbeat';
