-- Flights from New York as they leave, served: `make serve` replays 2013 and keeps these tables for psql and BI tools.

CREATE STREAM flights (
  time      TIMESTAMP,                               -- scheduled departure
  origin    STRING,                                  -- EWR, JFK or LGA
  dest      STRING,
  carrier   STRING,
  flight    INT,
  tailnum   STRING,
  dep_delay INT,                                     -- minutes; NULL: it never left
  arr_delay INT,
  WATERMARK FOR time AS time - INTERVAL '1' DAY
) WITH (
  connector = 'files', path = 'examples/flights/live', files_per_batch = 100,
  format = 'csv', header = FALSE, null = 'NA'        -- as the flights were published
);

-- One row for each airport and hour, which changes while flights of that hour leave.

CREATE TABLE hourly AS
SELECT window_start, window_end, origin, COUNT(*) AS flights, COUNT(dep_delay) AS departed, AVG(dep_delay) AS mean_delay
FROM flights
GROUP BY origin, TUMBLE(time, INTERVAL '1' HOUR);

-- Departures that were late by an hour or more, the newest ones.

CREATE STREAM delayed AS
SELECT STREAM time, origin, dest, carrier, flight, dep_delay
FROM flights
WHERE dep_delay >= 60;
