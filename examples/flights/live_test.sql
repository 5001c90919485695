TEST 'the newest delays' OF 'live.sql';
GIVEN flights (time, flight, dep_delay) VALUES ('0:00', 1, 59), ('0:00', 2, 60), ('0:00', 3, NULL);
THEN delayed (flight, dep_delay) VALUES (2, 60);
THEN hourly (flights, departed, mean_delay) VALUES (3, 2, 59.5);
GIVEN flights (time, flight, dep_delay) VALUES ('1:00:00', 4, 1);
THEN delayed NOTHING;
THEN hourly (flights, mean_delay) CHANGES + (1, 1.0);
