-- The three streams of Nexmark.
CREATE STREAM person (
  id BIGINT KEY, name STRING, email STRING, credit_card STRING, city STRING, state STRING, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '$delay' SECOND
) WITH (connector = 'files', path = '$data/person', format = '$format'$csv$limit);

CREATE STREAM auction (
  id BIGINT KEY, item STRING, description STRING, initial_bid BIGINT, reserve BIGINT, time TIMESTAMP,
  expires TIMESTAMP, seller BIGINT, category BIGINT,
  WATERMARK FOR time AS time - INTERVAL '$delay' SECOND
) WITH (connector = 'files', path = '$data/auction', format = '$format'$csv$limit);

CREATE STREAM bid (
  auction BIGINT KEY, bidder BIGINT, price BIGINT, channel STRING, url STRING, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '$delay' SECOND
) WITH (connector = 'files', path = '$data/bid', format = '$format'$csv$limit);

SET state_partitions = 2;
