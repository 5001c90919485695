-- Rides of taxis: lengths in kilometers, pairs of start and end.
CREATE STREAM starts (ride_id VARCHAR KEY, driver VARCHAR, lat DOUBLE, lon DOUBLE, ts TIMESTAMP)
  WITH (KAFKA_TOPIC = 'starts', VALUE_FORMAT = 'JSON', PARTITIONS = 4, TIMESTAMP = 'ts');
CREATE STREAM stops (ride_id VARCHAR KEY, lat DOUBLE, lon DOUBLE, fare DECIMAL(8, 2), ts TIMESTAMP)
  WITH (KAFKA_TOPIC = 'stops', VALUE_FORMAT = 'JSON', PARTITIONS = 4, TIMESTAMP = 'ts');

CREATE STREAM rides AS
  SELECT s.ride_id AS ride_id, s.driver AS driver, e.fare AS fare,
    (UNIX_TIMESTAMP(e.ts) - UNIX_TIMESTAMP(s.ts)) / 1000 AS seconds
  FROM starts s JOIN stops e WITHIN (0 SECONDS, 4 HOURS) GRACE PERIOD 10 MINUTES ON s.ride_id = e.ride_id
  EMIT CHANGES;

CREATE TABLE earnings AS
  SELECT driver, SUM(fare) AS total, COUNT(*) AS rides FROM rides GROUP BY driver EMIT CHANGES;

CREATE STREAM unfinished AS
  SELECT s.ride_id AS ride_id, s.driver AS driver
  FROM starts s LEFT OUTER JOIN stops e WITHIN 4 HOURS GRACE PERIOD 10 MINUTES ON s.ride_id = e.ride_id
  WHERE e.ride_id IS NULL
  EMIT CHANGES;
