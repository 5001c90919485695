-- Windows of ksqlDB. WINDOW stands between FROM and WHERE there.

-- name: WINDOW TUMBLING
CREATE TABLE pages_per_hour AS
SELECT page_id, COUNT(*) AS num FROM pageviews WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY page_id EMIT CHANGES;
-- same as
CREATE TABLE pages_per_hour AS
SELECT page_id, COUNT(*) AS num FROM pageviews GROUP BY page_id, TUMBLE(viewtime, INTERVAL '1' HOUR) EMIT CHANGES;

-- name: WINDOW TUMBLING without EMIT
CREATE TABLE pages_per_hour AS
SELECT page_id, COUNT(*) AS num FROM pageviews WINDOW TUMBLING (SIZE 30 SECONDS) GROUP BY page_id;
-- same as
CREATE TABLE pages_per_hour AS
SELECT page_id, COUNT(*) AS num FROM pageviews GROUP BY page_id, TUMBLE(viewtime, INTERVAL '30' SECOND);

-- name: WINDOWSTART and WINDOWEND
CREATE TABLE pages_per_hour AS
SELECT page_id, WINDOWSTART AS started, WINDOWEND AS ended, COUNT(*) AS num
FROM pageviews WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY page_id EMIT CHANGES;
-- same as
CREATE TABLE pages_per_hour AS
SELECT page_id, UNIX_MILLIS(window_start) AS started, UNIX_MILLIS(window_end) AS ended, COUNT(*) AS num
FROM pageviews GROUP BY page_id, TUMBLE(viewtime, INTERVAL '1' HOUR) EMIT CHANGES;

-- name: EMIT FINAL
CREATE TABLE pages_per_hour AS
SELECT page_id, COUNT(*) AS num FROM pageviews WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY page_id EMIT FINAL;
-- same as
CREATE TABLE pages_per_hour AS
SELECT page_id, COUNT(*) AS num FROM pageviews GROUP BY page_id, TUMBLE(viewtime, INTERVAL '1' HOUR) EMIT FINAL;

-- name: a grace period
CREATE TABLE pages_per_hour AS
SELECT page_id, COUNT(*) AS num
FROM pageviews WINDOW TUMBLING (SIZE 1 HOUR, GRACE PERIOD 10 MINUTES) GROUP BY page_id EMIT CHANGES;
-- same as
CREATE TABLE pages_per_hour AS
SELECT page_id, COUNT(*) AS num FROM pageviews
GROUP BY page_id, TUMBLE(viewtime, INTERVAL '1' HOUR) EMIT CHANGES GRACE PERIOD 10 MINUTES;

-- name: a retention and a grace period
CREATE TABLE pages_per_hour AS
SELECT page_id, COUNT(*) AS num
FROM pageviews WINDOW TUMBLING (SIZE 1 HOUR, RETENTION 7 DAYS, GRACE PERIOD 30 MINUTES) GROUP BY page_id EMIT CHANGES;
-- same as
CREATE TABLE pages_per_hour AS
SELECT page_id, COUNT(*) AS num FROM pageviews
GROUP BY page_id, TUMBLE(viewtime, INTERVAL '1' HOUR) EMIT CHANGES GRACE PERIOD 30 MINUTES RETENTION 7 DAYS;

-- name: a retention alone
CREATE TABLE pages_per_hour AS
SELECT page_id, COUNT(*) AS num
FROM pageviews WINDOW TUMBLING (SIZE 1 HOUR, RETENTION 1000 DAYS) GROUP BY page_id EMIT CHANGES;
-- same as
CREATE TABLE pages_per_hour AS
SELECT page_id, COUNT(*) AS num FROM pageviews
GROUP BY page_id, TUMBLE(viewtime, INTERVAL '1' HOUR) EMIT CHANGES RETENTION 1000 DAYS;

-- name: WINDOW HOPPING
-- ksqlDB names the size first, HOP the slide.
CREATE TABLE pages AS
SELECT page_id, COUNT(*) AS num
FROM pageviews WINDOW HOPPING (SIZE 30 SECONDS, ADVANCE BY 10 SECONDS) GROUP BY page_id EMIT CHANGES;
-- same as
CREATE TABLE pages AS
SELECT page_id, COUNT(*) AS num FROM pageviews
GROUP BY page_id, HOP(viewtime, INTERVAL '10' SECOND, INTERVAL '30' SECOND) EMIT CHANGES;

-- name: WINDOW HOPPING with all its parts
CREATE TABLE pages AS
SELECT page_id, COUNT(*) AS num
FROM pageviews
WINDOW HOPPING (SIZE 30 SECONDS, ADVANCE BY 10 SECONDS, RETENTION 2 HOURS, GRACE PERIOD 5 MINUTES)
GROUP BY page_id EMIT CHANGES;
-- same as
CREATE TABLE pages AS
SELECT page_id, COUNT(*) AS num FROM pageviews
GROUP BY page_id, HOP(viewtime, INTERVAL '10' SECOND, INTERVAL '30' SECOND)
EMIT CHANGES GRACE PERIOD 5 MINUTES RETENTION 2 HOURS;

-- name: WINDOW SESSION
CREATE TABLE visits AS
SELECT user_id, COUNT(*) AS num FROM pageviews WINDOW SESSION (5 MINUTES) GROUP BY user_id EMIT CHANGES;
-- same as
CREATE TABLE visits AS
SELECT user_id, COUNT(*) AS num, window_start, window_end FROM pageviews
GROUP BY user_id, SESSION(viewtime, INTERVAL '5' MINUTE);

-- name: final sessions
CREATE TABLE visits AS
SELECT user_id, COUNT(*) AS num FROM pageviews WINDOW SESSION (5 MINUTES) GROUP BY user_id EMIT FINAL;
-- same as
CREATE TABLE visits AS
SELECT user_id, COUNT(*) AS num FROM pageviews GROUP BY user_id, SESSION(viewtime, INTERVAL '5' MINUTE) EMIT FINAL;

-- name: sessions with a grace period
CREATE TABLE visits AS
SELECT user_id, WINDOWSTART AS started, WINDOWEND AS ended, COUNT(*) AS num
FROM pageviews WINDOW SESSION (5 MINUTES, RETENTION 2 HOURS, GRACE PERIOD 2 HOURS) GROUP BY user_id EMIT FINAL;
-- same as
CREATE TABLE visits AS
SELECT user_id, UNIX_MILLIS(window_start) AS started, UNIX_MILLIS(window_end) AS ended, COUNT(*) AS num FROM pageviews
GROUP BY user_id, SESSION(viewtime, INTERVAL '5' MINUTE) EMIT FINAL GRACE PERIOD 2 HOURS RETENTION 2 HOURS;

-- name: a filter and HAVING
CREATE TABLE busy_pages AS
SELECT page_id, COUNT(*) AS num
FROM pageviews WINDOW TUMBLING (SIZE 1 HOUR) WHERE user_id > 0 GROUP BY page_id HAVING COUNT(*) > 3 EMIT FINAL;
-- same as
CREATE TABLE busy_pages AS
SELECT page_id, COUNT(*) AS num FROM pageviews WHERE user_id > 0
GROUP BY page_id, TUMBLE(viewtime, INTERVAL '1' HOUR) HAVING COUNT(*) > 3 EMIT FINAL;

-- name: an alias before WINDOW
CREATE TABLE pages AS
SELECT p.page_id AS page_id, COUNT(*) AS num
FROM pageviews p WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY p.page_id EMIT CHANGES;
-- same as
CREATE TABLE pages AS
SELECT p.page_id AS page_id, COUNT(*) AS num FROM pageviews p
GROUP BY p.page_id, TUMBLE(p.viewtime, INTERVAL '1' HOUR) EMIT CHANGES;

-- name: two keys
CREATE TABLE pages AS
SELECT page_id, user_id, COUNT(*) AS num
FROM pageviews WINDOW TUMBLING (SIZE 1 DAY) GROUP BY page_id, user_id EMIT CHANGES;
-- same as
CREATE TABLE pages AS
SELECT page_id, user_id, COUNT(*) AS num FROM pageviews
GROUP BY page_id, user_id, TUMBLE(viewtime, INTERVAL '1' DAY) EMIT CHANGES;

-- name: a push query over windows
SELECT page_id, COUNT(*) AS num FROM pageviews WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY page_id EMIT CHANGES;
-- same as
SELECT page_id, COUNT(*) AS num FROM pageviews GROUP BY page_id, TUMBLE(viewtime, INTERVAL '1' HOUR) EMIT CHANGES;

-- name: WINDOW over a table
CREATE TABLE regions AS
SELECT region, COUNT(*) AS num FROM users WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY region EMIT CHANGES;
-- refused: W026

-- name: WINDOW without GROUP BY
CREATE TABLE pages AS SELECT page_id FROM pageviews WINDOW TUMBLING (SIZE 1 HOUR) EMIT CHANGES;
-- refused: W005

-- name: WINDOW of a stream without an event time
CREATE TABLE alerts_per_hour AS
SELECT user_id, COUNT(*) AS num FROM alerts WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY user_id EMIT CHANGES;
-- refused: W001

-- name: a window longer than a month
CREATE TABLE pages AS
SELECT page_id, COUNT(*) AS num FROM pageviews WINDOW TUMBLING (SIZE 1 MONTH) GROUP BY page_id EMIT CHANGES;
-- refused: W004
