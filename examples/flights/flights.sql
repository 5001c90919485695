-- All flights from New York in 2013, as streams.
--
--   python examples/flights/prepare.py                         writes the data
--   penstock check examples/flights/flights.sql                is it sound? (no Spark needed)
--   penstock run --once examples/flights/flights.sql           read what is there, write the results, end
--
-- Paths are relative to the folder in which penstock is started.

-- 1. What comes in -----------------------------------------------------------------------------------------------------
-- A stream is declared with its columns, the one that holds the event time, and how far rows may be out of order.
-- Here the event time is the *scheduled* departure, but a flight becomes known when it leaves the gate: up to 21 h 40 min
-- later in this year. One day covers that, so no row is late. dep_delay is NULL for the 8,255 flights that never left.

CREATE STREAM flights (
  time      TIMESTAMP,
  origin    STRING,                                  -- EWR, JFK or LGA
  dest      STRING,
  carrier   STRING,
  flight    INT,
  tailnum   STRING,
  dep_delay INT,                                     -- minutes; negative: left early
  arr_delay INT,
  WATERMARK FOR time AS time - INTERVAL '1' DAY
) WITH (
  connector = 'files', path = 'examples/flights/data/flights', format = 'csv', header = true, null = 'NA',
  files_per_batch = 2                                -- a file is a month: seven micro-batches for the year
);

-- One reading per airport and hour, in order. Some hours are missing, and so are the last days of the year.

CREATE STREAM weather (
  time       TIMESTAMP,
  origin     STRING,
  temp       DOUBLE,                                 -- degrees Fahrenheit
  wind_speed DOUBLE,                                 -- miles per hour
  wind_gust  DOUBLE,
  precip     DOUBLE,                                 -- inches
  visib      DOUBLE,                                 -- miles
  pressure   DOUBLE,                                 -- millibars
  WATERMARK FOR time AS time - INTERVAL '1' HOUR
) WITH (
  connector = 'files', path = 'examples/flights/data/weather', format = 'csv', header = true, null = 'NA',
  files_per_batch = 2
);

-- 2. Windows: flights per airport and hour -----------------------------------------------------------------------------
-- GROUP BY with a window makes a windowed table (WTable): one small table per hour. Without a place to go to it is kept
-- in memory, and a row is replaced whenever a flight changes it (EMIT CHANGES, the default for tables).

CREATE TABLE departures_per_hour AS
SELECT origin, window_start, COUNT(*) AS flights, COUNT(dep_delay) AS departed, AVG(dep_delay) AS mean_delay
FROM flights
GROUP BY origin, TUMBLE(time, INTERVAL '1' HOUR);

-- A file cannot take a row back. As a stream (SELECT STREAM) each hour comes out once, when the watermark has passed its
-- end and no flight of that hour can come any more (EMIT FINAL, the default for streams).

CREATE STREAM hourly_file (
  origin STRING, window_start TIMESTAMP, flights BIGINT, departed BIGINT, mean_delay DOUBLE
) WITH (connector = 'files', path = 'examples/flights/out/departures_per_hour', format = 'parquet');

INSERT INTO hourly_file
SELECT STREAM origin, window_start, COUNT(*) AS flights, COUNT(dep_delay) AS departed, AVG(dep_delay) AS mean_delay
FROM flights
GROUP BY origin, TUMBLE(time, INTERVAL '1' HOUR);

-- 3. A join within a bound: each departure with the weather of its airport ----------------------------------------------
-- Two streams can only be joined within a finite time, else both would have to be kept forever (see refused.sql). Readings
-- are an hour apart, so at most one lies in the hour before a departure. LEFT: a departure without one comes out as well,
-- once, as soon as the watermark proves that none will come.

CREATE STREAM weather_file (
  time TIMESTAMP, origin STRING, carrier STRING, flight INT, dep_delay INT,
  reading TIMESTAMP, temp DOUBLE, wind_speed DOUBLE, precip DOUBLE, visib DOUBLE
) WITH (connector = 'files', path = 'examples/flights/out/departures_with_weather', format = 'parquet');

INSERT INTO weather_file
SELECT STREAM f.time AS time, f.origin AS origin, f.carrier AS carrier, f.flight AS flight, f.dep_delay AS dep_delay,
  w.time AS reading, w.temp AS temp, w.wind_speed AS wind_speed, w.precip AS precip, w.visib AS visib
FROM flights f
LEFT JOIN weather w
  ON w.origin = f.origin AND w.time > f.time - INTERVAL '1' HOUR AND w.time <= f.time;

-- 4. OVER: the mean delay of the last three hours, at every departure ----------------------------------------------------
-- One row out per row in. The frame is the flights of the same airport scheduled in the three hours up to this one, itself
-- and those of the same minute included; AVG passes over NULL, so cancelled flights have a row but no weight.

CREATE STREAM recent_file (
  time TIMESTAMP, origin STRING, carrier STRING, flight INT, dep_delay INT, departed_3h BIGINT, mean_3h DOUBLE
) WITH (connector = 'files', path = 'examples/flights/out/recent_delay', format = 'parquet');

INSERT INTO recent_file
SELECT STREAM time, origin, carrier, flight, dep_delay,
  COUNT(dep_delay) OVER last_3h AS departed_3h, AVG(dep_delay) OVER last_3h AS mean_3h
FROM flights
WINDOW last_3h AS (PARTITION BY origin ORDER BY time RANGE INTERVAL '3' HOUR PRECEDING);

-- 5. This week against last week -----------------------------------------------------------------------------------------
-- Windowed tables are joined window by window: the same one, or, as here, one that lies a fixed time away. The result is
-- a windowed table, too; as a stream each row comes once, when its day is over. Days are those of UTC.

CREATE VIEW daily AS
SELECT origin, COUNT(*) AS flights, COUNT(dep_delay) AS departed
FROM flights
GROUP BY origin, TUMBLE(time, INTERVAL '1' DAY);

CREATE STREAM weekly_file (
  origin STRING, day TIMESTAMP, flights BIGINT, departed BIGINT, flights_week_before BIGINT, departed_week_before BIGINT
) WITH (connector = 'files', path = 'examples/flights/out/week_against_week', format = 'parquet');

INSERT INTO weekly_file
SELECT STREAM d.origin, d.window_start AS day, d.flights, d.departed,
  w.flights AS flights_week_before, w.departed AS departed_week_before
FROM daily d
LEFT JOIN daily w ON w.origin = d.origin AND w.window_start = d.window_start - INTERVAL '7' DAY;
