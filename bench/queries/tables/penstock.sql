-- Two tables by the same key, from changelogs, one file of each in a micro-batch.
CREATE TABLE item (id BIGINT PRIMARY KEY, seller BIGINT, category BIGINT, price BIGINT, name STRING)
WITH (connector = 'files', path = '$data/item', format = '$format'$csv, operation = 'op', files_per_batch = 1);

CREATE TABLE offer (id BIGINT PRIMARY KEY, bidder BIGINT, amount BIGINT)
WITH (connector = 'files', path = '$data/offer', format = '$format'$csv, operation = 'op', files_per_batch = 1);

SET state_partitions = 2;
