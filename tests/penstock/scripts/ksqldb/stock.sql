-- What is in stock: several sources into one stream, and its total.
-- refused: 2
CREATE STREAM received (item VARCHAR KEY, pieces INT, at TIMESTAMP)
  WITH (KAFKA_TOPIC = 'received', VALUE_FORMAT = 'JSON', PARTITIONS = 3, TIMESTAMP = 'at');
CREATE STREAM sold (item VARCHAR KEY, pieces INT, at TIMESTAMP)
  WITH (KAFKA_TOPIC = 'sold', VALUE_FORMAT = 'JSON', PARTITIONS = 3, TIMESTAMP = 'at');
CREATE STREAM moves (item VARCHAR KEY, pieces INT)
  WITH (KAFKA_TOPIC = 'moves', VALUE_FORMAT = 'JSON', PARTITIONS = 3);

INSERT INTO moves SELECT item, pieces FROM received EMIT CHANGES;
INSERT INTO moves SELECT item, -pieces AS pieces FROM sold EMIT CHANGES;

CREATE TABLE in_stock AS SELECT item, SUM(pieces) AS pieces FROM moves GROUP BY item EMIT CHANGES;
SHOW STREAMS;
DESCRIBE moves EXTENDED;
TERMINATE ALL;
