-- Errors of a web site per minute, and the users who have them.
CREATE STREAM clickstream (
  userid INT KEY, ip VARCHAR, request VARCHAR, status INT, bytes BIGINT, agent VARCHAR, at TIMESTAMP
) WITH (KAFKA_TOPIC = 'clickstream', VALUE_FORMAT = 'JSON', PARTITIONS = 4, TIMESTAMP = 'at');

CREATE TABLE web_users (user_id INT PRIMARY KEY, username VARCHAR, first_name VARCHAR, city VARCHAR, level VARCHAR)
  WITH (KAFKA_TOPIC = 'clickstream_users', VALUE_FORMAT = 'JSON', PARTITIONS = 4);

CREATE TABLE events_per_min AS
  SELECT userid AS k1, AS_VALUE(userid) AS userid, WINDOWSTART AS event_ts, COUNT(*) AS events
  FROM clickstream WINDOW TUMBLING (SIZE 60 SECONDS)
  GROUP BY userid;

CREATE TABLE errors_per_min_alert AS
  SELECT status AS k1, AS_VALUE(status) AS status, WINDOWSTART AS event_ts, COUNT(*) AS errors
  FROM clickstream WINDOW HOPPING (SIZE 60 SECONDS, ADVANCE BY 20 SECONDS)
  WHERE status > 400
  GROUP BY status
  HAVING COUNT(*) > 5 AND COUNT(*) IS NOT NULL;

CREATE STREAM enriched AS
  SELECT userid, u.username, ip, u.city, request, status, bytes
  FROM clickstream c
  LEFT JOIN web_users u ON c.userid = u.user_id;

CREATE STREAM user_errors AS
  SELECT userid, UCASE(agent) AS agent, SUBSTRING(request, 1, 8) AS method,
    CASE WHEN status >= 500 THEN 'server' WHEN status >= 400 THEN 'client' ELSE 'none' END AS who
  FROM clickstream
  WHERE status BETWEEN 400 AND 599 AND request NOT LIKE '%health%'
  PARTITION BY userid;
