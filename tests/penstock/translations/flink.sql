-- Bids of an auction, as a job of Flink reads them.
SET 'execution.checkpointing.interval' = '10 s';
USE CATALOG default_catalog;

CREATE TABLE bid (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT, -- in cents
  channel VARCHAR(20),
  tags ARRAY<STRING>,
  bid_time TIMESTAMP(3),
  proc_time AS PROCTIME(),
  revenue AS price * 2,
  WATERMARK FOR bid_time AS bid_time - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka',
  'topic' = 'bids',
  'properties.bootstrap.servers' = 'broker:9092',
  'properties.group.id' = 'penstock',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'json'
);

-- Who sells.
CREATE TABLE person (
  id BIGINT NOT NULL COMMENT 'of the person',
  name STRING NOT NULL,
  city STRING,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'jdbc',
  'url' = 'jdbc:postgresql://db.example:5432/shop',
  'table-name' = 'person',
  'username' = 'shop',
  'password' = 'secret'
);

CREATE TABLE events (
  id BIGINT,
  ts BIGINT,
  time_ltz AS TO_TIMESTAMP_LTZ(ts, 3),
  WATERMARK FOR time_ltz AS time_ltz - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka', 'topic' = 'events', 'format' = 'json');

CREATE TABLE asks (auction BIGINT, ask BIGINT, ask_time TIMESTAMP(3), WATERMARK FOR ask_time AS ask_time - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'asks', 'format' = 'json');

CREATE TABLE per_window (window_start TIMESTAMP(3), window_end TIMESTAMP(3), total BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'out/per_window', 'format' = 'json');

CREATE TABLE shown (auction BIGINT, price BIGINT) WITH ('connector' = 'print');

CREATE TABLE made (id BIGINT, `order` DOUBLE, at TIMESTAMP(3)) WITH (
  'connector' = 'datagen', 'rows-per-second' = '5', 'number-of-rows' = '90', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1',
  'fields.id.end' = '50', 'fields.order.null-rate' = '0.5', 'fields.at.max-past' = '5 s', 'scan.parallelism' = '2');

CREATE TABLE printed WITH ('connector' = 'print', 'print-identifier' = 'it''s') AS SELECT id FROM made;

CREATE TABLE dropped (id BIGINT) WITH ('connector' = 'blackhole');

CREATE TEMPORARY VIEW large AS
SELECT auction, bidder, price, bid_time FROM bid WHERE price > 1000;

EXECUTE STATEMENT SET BEGIN
-- The totals of each window.
INSERT INTO per_window
SELECT window_start, window_end, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bid_time), INTERVAL '10' MINUTES))
GROUP BY window_start, window_end;

INSERT INTO shown SELECT auction, price FROM large;
END;

-- A lookup at the processing time.
CREATE VIEW named AS
SELECT b.auction, b.price, p.name, b.tags[1] AS first_tag
FROM bid AS b
LEFT JOIN person FOR SYSTEM_TIME AS OF b.proc_time AS p ON b.bidder = p.id;

CREATE VIEW asked AS
SELECT b.auction, b.price, a.ask
FROM bid b LEFT JOIN asks a
ON b.auction = a.auction AND a.ask_time BETWEEN b.bid_time AND b.bid_time + INTERVAL '10' MINUTE;

CREATE VIEW forever AS
SELECT b.auction, a.ask FROM bid b JOIN asks a ON b.auction = a.auction;

SELECT bidder, COUNT(*) AS bids, SUM(price) / COUNT(*) AS mean_price FROM bid GROUP BY bidder;

SELECT auction, price FROM bid;
