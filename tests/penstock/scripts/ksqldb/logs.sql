-- Lines of a log that is CSV: what they say, and how often.
CREATE STREAM lines (host VARCHAR, level VARCHAR, message VARCHAR, millis BIGINT, at TIMESTAMP)
  WITH (KAFKA_TOPIC = 'lines', VALUE_FORMAT = 'DELIMITED', PARTITIONS = 2, TIMESTAMP = 'at');

CREATE STREAM parsed AS
  SELECT host, level, REGEXP_EXTRACT('user=([0-9]+)', message, 1) AS user_id, SPLIT(message, ' ') AS words,
    TRIM(LCASE(message)) AS text, FROM_UNIXTIME(millis) AS written, UNIX_TIMESTAMP(at) AS at_millis,
    MASK(message) AS masked, CONCAT(host, ':', level) AS source
  FROM lines
  WHERE level IN ('ERROR', 'WARN') OR message LIKE '%timeout%'
  EMIT CHANGES;

CREATE TABLE per_level AS
  SELECT level, COUNT(*) AS num, EARLIEST_BY_OFFSET(message) AS first, LATEST_BY_OFFSET(message) AS last
  FROM lines GROUP BY level EMIT CHANGES;

CREATE TABLE per_host AS
  SELECT host, level, COUNT(*) AS num FROM lines
  WINDOW TUMBLING (SIZE 5 MINUTES) GROUP BY host, level EMIT CHANGES;
