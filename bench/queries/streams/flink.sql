-- The three streams of Nexmark.
CREATE TABLE person (
  id BIGINT, name STRING, email STRING, credit_card STRING, city STRING, state STRING, `time` TIMESTAMP(3),
  WATERMARK FOR `time` AS `time` - INTERVAL '$delay' SECOND
) WITH ('connector' = 'filesystem', 'path' = '$data/person$halves', 'format' = '$format'$follow);

CREATE TABLE auction (
  id BIGINT, item STRING, description STRING, initial_bid BIGINT, reserve BIGINT, `time` TIMESTAMP(3),
  expires TIMESTAMP(3), seller BIGINT, category BIGINT,
  WATERMARK FOR `time` AS `time` - INTERVAL '$delay' SECOND
) WITH ('connector' = 'filesystem', 'path' = '$data/auction$halves', 'format' = '$format'$follow);

CREATE TABLE bid (
  auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, `time` TIMESTAMP(3),
  WATERMARK FOR `time` AS `time` - INTERVAL '$delay' SECOND
) WITH ('connector' = 'filesystem', 'path' = '$data/bid$halves', 'format' = '$format'$follow);
