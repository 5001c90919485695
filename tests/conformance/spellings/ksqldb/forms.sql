-- Forms of ksqlDB that mean the same here.

-- name: AS_VALUE
CREATE STREAM copies AS SELECT user_id, AS_VALUE(user_id) AS again FROM pageviews EMIT CHANGES;
-- same as
CREATE STREAM copies AS SELECT STREAM user_id, user_id AS again FROM pageviews;

-- name: FROM_DAYS
CREATE STREAM days AS SELECT FROM_DAYS(small) AS a FROM events EMIT CHANGES;
-- same as
CREATE STREAM days AS SELECT STREAM DATE_FROM_UNIX_DATE(small) AS a FROM events;

-- name: the newest page of each user
CREATE TABLE newest AS SELECT user_id, MAX_BY(page_id, ROWTIME) AS page FROM pageviews GROUP BY user_id EMIT CHANGES;
-- same as
CREATE TABLE newest AS SELECT user_id, MAX_BY(page_id, viewtime) AS page FROM pageviews GROUP BY user_id;

-- name: the latest page of each user by offset
CREATE TABLE newest AS SELECT user_id, LATEST_BY_OFFSET(page_id) AS page FROM pageviews GROUP BY user_id EMIT CHANGES;
-- refused: N005, MAX_BY(page_id, ROWTIME)

-- name: a character by its code
CREATE STREAM a AS SELECT CHR('\u0041') AS a, CHR('66') AS b, CHR(67) AS c FROM events;
-- same as
CREATE STREAM a AS SELECT STREAM 'A' AS a, CHR('66') AS b, CHR(67) AS c FROM events;
