-- The results of flights.sql as DuckDB computes them over the files of the demo at once.

SET TimeZone = 'UTC';

CREATE TABLE flights AS
SELECT * FROM read_csv('flights/*.csv', header = true, nullstr = 'NA', columns = {
  'time': 'TIMESTAMP', 'origin': 'VARCHAR', 'dest': 'VARCHAR', 'carrier': 'VARCHAR', 'flight': 'INTEGER', 'tailnum': 'VARCHAR',
  'dep_delay': 'INTEGER', 'arr_delay': 'INTEGER'});

CREATE TABLE weather AS
SELECT * FROM read_csv('weather/*.csv', header = true, nullstr = 'NA', columns = {
  'time': 'TIMESTAMP', 'origin': 'VARCHAR', 'temp': 'DOUBLE', 'wind_speed': 'DOUBLE', 'wind_gust': 'DOUBLE',
  'precip': 'DOUBLE', 'visib': 'DOUBLE', 'pressure': 'DOUBLE'});

-- Planes that were built before 1985 are taken out of service by messages without a value.
CREATE TABLE planes AS
SELECT tailnum, manufacturer, seats FROM read_csv('planes.csv', header = true, nullstr = 'NA')
WHERE year IS NULL OR year >= 1985;

CREATE VIEW departures_per_hour AS
SELECT origin, date_trunc('hour', time) AS hour,
  count(*) AS flights, count(dep_delay) AS departed, sum(dep_delay)::BIGINT AS delay
FROM flights
GROUP BY ALL;

CREATE VIEW departures_with_weather AS
SELECT f.tailnum, f.time, f.origin, f.carrier, f.flight, f.dep_delay, w.time AS reading, w.temp, w.wind_speed, w.visib
FROM flights f
LEFT JOIN weather w ON w.origin = f.origin AND w.time > f.time - INTERVAL 1 HOUR AND w.time <= f.time;

CREATE VIEW carriers AS
SELECT carrier, count(*) AS flights, count(dep_delay) AS departed, max(dep_delay) AS worst
FROM flights
GROUP BY ALL;

CREATE VIEW manufacturers AS
SELECT manufacturer, count(*) AS flights, count(dep_delay) AS departed, sum(seats)::BIGINT AS seats
FROM flights
JOIN planes USING (tailnum)
GROUP BY ALL;
