-- The page views of a site.
SET 'auto.offset.reset' = 'earliest';

CREATE STREAM pageviews (
  viewtime TIMESTAMP,
  user_id BIGINT KEY,
  page_id VARCHAR,
  duration INT,
  tags ARRAY<VARCHAR>
) WITH (KAFKA_TOPIC = 'pageviews', VALUE_FORMAT = 'JSON', PARTITIONS = 6, TIMESTAMP = 'viewtime');

CREATE STREAM clicks (user_id BIGINT KEY, url VARCHAR, clicked TIMESTAMP)
  WITH (KAFKA_TOPIC = 'clicks', VALUE_FORMAT = 'JSON', PARTITIONS = 6, TIMESTAMP = 'clicked');

CREATE TABLE users (user_id BIGINT PRIMARY KEY, name VARCHAR, region VARCHAR)
  WITH (KAFKA_TOPIC = 'users', VALUE_FORMAT = 'JSON', PARTITIONS = 6);

CREATE STREAM readings (id BIGINT KEY, value DOUBLE) WITH (KAFKA_TOPIC = 'readings', VALUE_FORMAT = 'AVRO');

-- Who reads what.
CREATE STREAM enriched AS
  SELECT v.user_id AS user_id, v.page_id AS page_id, u.region AS region, v.tags[1] AS tag
  FROM pageviews v
  LEFT JOIN users u ON v.user_id = u.user_id
  EMIT CHANGES;

CREATE TABLE views_per_region AS
  SELECT page_id, COUNT(*) AS views, SUM(duration) / COUNT(*) AS mean_duration
  FROM pageviews
  WINDOW TUMBLING (SIZE 1 HOUR, GRACE PERIOD 10 MINUTES)
  GROUP BY page_id
  EMIT CHANGES;

CREATE TABLE totals AS
  SELECT user_id, COUNT(*) AS views FROM pageviews GROUP BY user_id EMIT CHANGES;

CREATE STREAM clicked AS
  SELECT v.user_id AS user_id, v.page_id AS page_id, c.url AS url
  FROM pageviews v
  LEFT JOIN clicks c WITHIN 5 MINUTES ON v.user_id = c.user_id
  EMIT CHANGES;

CREATE STREAM times AS
  SELECT page_id, FROM_UNIXTIME(user_id) AS at, UNIX_TIMESTAMP(viewtime) AS millis FROM pageviews EMIT CHANGES;

INSERT INTO clicks (user_id, url) VALUES (1, 'https://example.com');

PRINT 'pageviews' FROM BEGINNING LIMIT 3;

SELECT * FROM pageviews EMIT CHANGES;
