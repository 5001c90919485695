-- The three streams of Nexmark; each of the two tasks reads one half of a stream, in the order of arrival.
CREATE TABLE person (
  id BIGINT, name STRING, email STRING, credit_card STRING, city STRING, state STRING, `time` TIMESTAMP(3),
  WATERMARK FOR `time` AS `time` - INTERVAL '4' SECOND
) WITH ('connector' = 'filesystem', 'path' = '$data/person-halves', 'format' = '$format');

CREATE TABLE auction (
  id BIGINT, item STRING, description STRING, initial_bid BIGINT, reserve BIGINT, `time` TIMESTAMP(3),
  expires TIMESTAMP(3), seller BIGINT, category BIGINT,
  WATERMARK FOR `time` AS `time` - INTERVAL '4' SECOND
) WITH ('connector' = 'filesystem', 'path' = '$data/auction-halves', 'format' = '$format');

CREATE TABLE bid (
  auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, `time` TIMESTAMP(3),
  WATERMARK FOR `time` AS `time` - INTERVAL '4' SECOND
) WITH ('connector' = 'filesystem', 'path' = '$data/bid-halves', 'format' = '$format');
