-- The three streams of Nexmark, one file of each in a micro-batch.
CREATE STREAM person (
  id BIGINT KEY, name STRING, email STRING, credit_card STRING, city STRING, state STRING, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '4' SECOND
) WITH (connector = 'files', path = '$data/person', format = '$format'$csv, files_per_batch = 1);

CREATE STREAM auction (
  id BIGINT KEY, item STRING, description STRING, initial_bid BIGINT, reserve BIGINT, time TIMESTAMP,
  expires TIMESTAMP, seller BIGINT, category BIGINT,
  WATERMARK FOR time AS time - INTERVAL '4' SECOND
) WITH (connector = 'files', path = '$data/auction', format = '$format'$csv, files_per_batch = 1);

CREATE STREAM bid (
  auction BIGINT KEY, bidder BIGINT, price BIGINT, channel STRING, url STRING, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '4' SECOND
) WITH (connector = 'files', path = '$data/bid', format = '$format'$csv, files_per_batch = 1);

SET state_partitions = 2;
