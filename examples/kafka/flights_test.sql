TEST 'flights of each carrier' OF 'flights.sql';

GIVEN flights (time, carrier, dep_delay) VALUES
  ('0:00', 'UA', 5),
  ('0:00', 'UA', NULL),
  ('0:00', 'B6', -2);

THEN carriers VALUES ('UA', 2, 1, 5), ('B6', 1, 1, -2);
GIVEN flights (time, carrier, dep_delay) VALUES ('0:01', 'B6', 30);
THEN carriers CHANGES - ('B6', 1, 1, -2), + ('B6', 2, 2, 30);

TEST 'flights of the planes of each manufacturer' OF 'flights.sql';
GIVEN planes VALUES ('N1', 'AIRBUS', 100), ('N2', 'BOEING', 200);

GIVEN flights (time, tailnum, dep_delay) VALUES
  ('0:00', 'N1', 5),
  ('0:00', 'N2', 7),
  ('0:00', 'N3', 9);

THEN manufacturers VALUES ('AIRBUS', 1, 1, 100), ('BOEING', 1, 1, 200);
GIVEN planes VALUES ('N2', 'BOEING', 250);
GIVEN flights (time, tailnum) VALUES ('0:01', 'N2');
THEN manufacturers CHANGES - ('BOEING', 1, 1, 200), + ('BOEING', 2, 1, 450);
