-- The statement of refused.sql with a bound: only the readings of the hour before the departure.

SELECT STREAM f.time AS time, f.origin AS origin, f.flight AS flight, w.visib AS visib
FROM flights f
LEFT JOIN weather w
  ON w.origin = f.origin AND w.time > f.time - INTERVAL '1' HOUR AND w.time <= f.time;
