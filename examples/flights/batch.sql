-- The four results of flights.sql as DuckDB computes them over all the files at once: what the streams must come to.

SET TimeZone = 'UTC';

CREATE TABLE flights AS
SELECT * FROM read_csv('examples/flights/data/flights/*.csv', header = true, nullstr = 'NA', columns = {
  'time': 'TIMESTAMP', 'origin': 'VARCHAR', 'dest': 'VARCHAR', 'carrier': 'VARCHAR', 'flight': 'INTEGER', 'tailnum': 'VARCHAR',
  'dep_delay': 'INTEGER', 'arr_delay': 'INTEGER'});

CREATE TABLE weather AS
SELECT * FROM read_csv('examples/flights/data/weather/*.csv', header = true, nullstr = 'NA', columns = {
  'time': 'TIMESTAMP', 'origin': 'VARCHAR', 'temp': 'DOUBLE', 'wind_speed': 'DOUBLE', 'wind_gust': 'DOUBLE',
  'precip': 'DOUBLE', 'visib': 'DOUBLE', 'pressure': 'DOUBLE'});

CREATE VIEW departures_per_hour AS
SELECT origin, date_trunc('hour', time) AS window_start,
  count(*) AS flights, count(dep_delay) AS departed, avg(dep_delay) AS mean_delay
FROM flights
GROUP BY ALL;

CREATE VIEW departures_with_weather AS
SELECT f.time, f.origin, f.carrier, f.flight, f.dep_delay, w.time AS reading, w.temp, w.wind_speed, w.precip, w.visib
FROM flights f
LEFT JOIN weather w ON w.origin = f.origin AND w.time > f.time - INTERVAL 1 HOUR AND w.time <= f.time;

CREATE VIEW recent_delay AS
SELECT time, origin, carrier, flight, dep_delay, count(dep_delay) OVER last_3h AS departed_3h, avg(dep_delay) OVER last_3h AS mean_3h
FROM flights
WINDOW last_3h AS (PARTITION BY origin ORDER BY time RANGE BETWEEN INTERVAL 3 HOURS PRECEDING AND CURRENT ROW);

CREATE VIEW daily AS
SELECT origin, time_bucket(INTERVAL 1 DAY, time) AS day, count(*) AS flights, count(dep_delay) AS departed
FROM flights
GROUP BY ALL;

CREATE VIEW week_against_week AS
SELECT d.origin, d.day, d.flights, d.departed, w.flights AS flights_week_before, w.departed AS departed_week_before
FROM daily d
LEFT JOIN daily w ON w.origin = d.origin AND w.day = d.day - INTERVAL 7 DAYS;
