-- Tests of flights.sql: penstock test examples/flights

TEST 'flights per hour, when no more of them can come' OF 'flights.sql' AT '2013-07-01 08:00:00Z';

GIVEN flights (time, origin, dep_delay) VALUES
  ('0:00', 'JFK', 10),
  ('59:00', 'JFK', 20),
  ('30:00', 'JFK', NULL),
  ('5:00', 'EWR', -3);

THEN departures_per_hour (origin, flights, departed, mean_delay) VALUES
  ('JFK', 3, 2, 15.0),
  ('EWR', 1, 1, -3.0);

THEN hourly_file NOTHING;
GIVEN WATERMARK OF flights '1:00:00';
THEN hourly_file VALUES ('JFK', '0:00', 3, 2, 15.0), ('EWR', '0:00', 1, 1, -3.0);
GIVEN flights (time, origin) VALUES ('59:59', 'JFK');
THEN LATE OF flights (time) VALUES ('59:59');

TEST 'the weather of the hour before' OF 'flights.sql' AT '2013-07-01 08:00:00Z';

GIVEN weather (time, origin, temp) VALUES
  ('0:00', 'JFK', 70),
  ('1:00:00', 'JFK', 75),
  ('1:00:00', 'EWR', 80);

GIVEN flights (time, origin, flight) VALUES
  ('59:00', 'JFK', 1),
  ('1:00:00', 'JFK', 2),
  ('2:00:00', 'JFK', 3),
  ('1:30:00', 'LGA', 4);

GIVEN END;

THEN weather_file (flight, reading, temp) VALUES
  (1, '0:00', 70),
  (2, '1:00:00', 75),
  (3, NULL, NULL),
  (4, NULL, NULL);

TEST 'the mean of the last three hours' OF 'flights.sql' AT '2013-07-01 08:00:00Z';

GIVEN flights (time, origin, dep_delay) VALUES
  ('0:00', 'JFK', 10),
  ('3:00:00', 'JFK', 20),
  ('3:00:01', 'JFK', 60),
  ('3:00:00', 'EWR', NULL);

GIVEN END;

THEN recent_file (time, origin, departed_3h, mean_3h) VALUES
  ('0:00', 'JFK', 1, 10.0),
  ('3:00:00', 'JFK', 2, 15.0),
  ('3:00:01', 'JFK', 2, 40.0),
  ('3:00:00', 'EWR', 0, NULL);

TEST 'a day beside the day a week before' OF 'flights.sql' AT '2013-07-01 00:00:00Z';

GIVEN flights (time, origin, dep_delay) VALUES
  ('2013-07-01 23:59:59', 'JFK', 1),
  ('2013-07-08 00:00:00', 'JFK', NULL);

GIVEN END;
THEN weekly_file VALUES ('JFK', '2013-07-01', 1, 1, NULL, NULL), ('JFK', '2013-07-08', 1, 0, 1, 1);

TEST 'the weather of any hour' OF 'flights.sql', 'refused.sql';
THEN REFUSED J001;
