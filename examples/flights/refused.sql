-- Each departure with the weather of its airport, over the streams that flights.sql declares:
--
--   penstock check examples/flights/flights.sql examples/flights/refused.sql
--
-- But the weather of which hour? Nothing says when a departure or a reading is no longer needed, so both streams would have
-- to be kept forever. This is refused before anything runs; mended.sql says which hour.

SELECT STREAM f.time AS time, f.origin AS origin, f.flight AS flight, w.visib AS visib
FROM flights f
LEFT JOIN weather w
  ON w.origin = f.origin;
