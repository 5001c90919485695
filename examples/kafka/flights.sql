-- All flights from New York in 2013: from topics of Kafka to topics, and to a table of PostgreSQL.
--
--   python -m examples.kafka.demo                        runs everything with a broker and a server of its own
--   penstock check examples/kafka/flights.sql            is it sound? (no Spark, no broker needed)
--   penstock run --once --drain --checkpoint state examples/kafka/flights.sql
--
-- The url of the table names no host and no user. They come from PGHOST, PGPORT and PGUSER.

-- 1. What comes in -----------------------------------------------------------------------------------------------------
-- A flight becomes known when it leaves the gate, and its event time is the scheduled one. So messages are up to 21 h 40 min
-- out of order. Their keys are the tail numbers of planes, which choose the partition. Partitions are read side by side, and
-- one of them may be some days ahead of another: in this year up to 3 d 21 h. A delay of five days covers both.

CREATE STREAM flights (
  time      TIMESTAMP,
  origin    STRING,                                  -- EWR, JFK or LGA
  dest      STRING,
  carrier   STRING,
  flight    INT,
  tailnum   STRING,
  dep_delay INT,                                     -- minutes; NULL: it never left
  WATERMARK FOR time AS time - INTERVAL '5' DAY
) WITH (
  connector = 'kafka', topic = 'flights', format = 'json', bootstrap_servers = 'localhost:9092',
  max_offsets_per_batch = 60000                      -- six micro-batches for the year
);

-- One reading per airport and hour.

CREATE STREAM weather (
  time       TIMESTAMP,
  origin     STRING,
  temp       DOUBLE,
  wind_speed DOUBLE,
  visib      DOUBLE,
  WATERMARK FOR time AS time - INTERVAL '1' DAY
) WITH (
  connector = 'kafka', topic = 'weather', format = 'json', bootstrap_servers = 'localhost:9092',
  max_offsets_per_batch = 5000
);

-- A compacted topic: the newest message of each key is a row, and a message without a value deletes it.

CREATE TABLE planes (
  tailnum      STRING PRIMARY KEY,
  manufacturer STRING,
  seats        INT
) WITH (
  connector = 'kafka', topic = 'planes', format = 'json', bootstrap_servers = 'localhost:9092'
);

-- 2. A window: flights per airport and hour ------------------------------------------------------------------------------
-- A message for each hour, once the watermark has passed its end.

CREATE STREAM hours (
  origin STRING KEY, hour TIMESTAMP, flights BIGINT, departed BIGINT, delay BIGINT
) WITH (
  connector = 'kafka', topic = 'departures_per_hour', format = 'json', key_format = 'text',
  bootstrap_servers = 'localhost:9092'
);

INSERT INTO hours
SELECT STREAM origin, window_start AS hour, COUNT(*) AS flights, COUNT(dep_delay) AS departed, SUM(dep_delay) AS delay
FROM flights
GROUP BY origin, TUMBLE(time, INTERVAL '1' HOUR);

-- 3. A join of two topics: each departure with the weather of its airport ------------------------------------------------
-- The timestamp of a message is its event time.

CREATE STREAM departures (
  tailnum STRING KEY, time TIMESTAMP, origin STRING, carrier STRING, flight INT, dep_delay INT,
  reading TIMESTAMP, temp DOUBLE, wind_speed DOUBLE, visib DOUBLE,
  WATERMARK FOR time AS time
) WITH (
  connector = 'kafka', topic = 'departures_with_weather', format = 'json', bootstrap_servers = 'localhost:9092'
);

INSERT INTO departures
SELECT STREAM f.tailnum, f.time AS time, f.origin, f.carrier, f.flight, f.dep_delay,
  w.time AS reading, w.temp, w.wind_speed, w.visib
FROM flights f
LEFT JOIN weather w
  ON w.origin = f.origin AND w.time > f.time - INTERVAL '1' HOUR AND w.time <= f.time;

-- 4. A table in a topic: flights of each carrier -------------------------------------------------------------------------
-- Each micro-batch writes the rows that it has changed, under their keys.

CREATE TABLE carriers
WITH (connector = 'kafka', topic = 'carriers', format = 'json', bootstrap_servers = 'localhost:9092')
AS SELECT carrier, COUNT(*) AS flights, COUNT(dep_delay) AS departed, MAX(dep_delay) AS worst
FROM flights
GROUP BY carrier;

-- 5. A join with a table, into PostgreSQL: flights of the planes of each manufacturer ------------------------------------

CREATE VIEW flown AS
SELECT STREAM p.manufacturer, p.seats, f.dep_delay
FROM flights f
JOIN planes p ON p.tailnum = f.tailnum;

CREATE TABLE manufacturers
WITH (connector = 'postgres', url = 'postgresql:///flights', table = 'manufacturers', create = 'if_missing')
AS SELECT manufacturer, COUNT(*) AS flights, COUNT(dep_delay) AS departed, SUM(seats) AS seats
FROM flown
GROUP BY manufacturer;
