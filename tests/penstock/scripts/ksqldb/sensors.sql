-- Readings of sensors: alerts, means by hour, sessions of activity.
CREATE STREAM readings (
  sensor_id VARCHAR KEY,
  reading STRUCT<temperature DOUBLE, humidity DOUBLE, tags MAP<VARCHAR, VARCHAR>>,
  samples ARRAY<DOUBLE>,
  taken TIMESTAMP
) WITH (KAFKA_TOPIC = 'readings', VALUE_FORMAT = 'JSON', PARTITIONS = 3, TIMESTAMP = 'taken');

CREATE STREAM flat AS
  SELECT sensor_id, reading->temperature AS temperature, reading->tags['room'] AS room, samples[1] AS first_sample,
    ARRAY_LENGTH(samples) AS num, EXPLODE(samples) AS sample
  FROM readings
  WHERE reading->temperature IS NOT NULL
  EMIT CHANGES;

CREATE STREAM alerts AS
  SELECT sensor_id, reading->temperature AS temperature, TIMESTAMPTOSTRING(ROWTIME, 'yyyy-MM-dd HH:mm:ss') AS at
  FROM readings WHERE reading->temperature > 35 OR ABS(reading->humidity - 50) > 40 EMIT CHANGES;

CREATE TABLE hourly AS
  SELECT sensor_id, MIN(reading->temperature) AS least, MAX(reading->temperature) AS most,
    AVG(reading->temperature) AS mean, STDDEV_SAMP(reading->temperature) AS spread
  FROM readings WINDOW TUMBLING (SIZE 1 HOUR, GRACE PERIOD 5 MINUTES) GROUP BY sensor_id EMIT FINAL;

CREATE TABLE activity AS
  SELECT sensor_id, COUNT(*) AS num FROM readings WINDOW SESSION (10 MINUTES) GROUP BY sensor_id EMIT CHANGES;

CREATE STREAM transformed AS
  SELECT sensor_id, TRANSFORM(samples, s => ROUND(s, 1)) AS rounded, FILTER(samples, s => s > 0) AS positive,
    REDUCE(samples, CAST(0 AS DOUBLE), (sum, s) => sum + s) AS total
  FROM readings EMIT CHANGES;
