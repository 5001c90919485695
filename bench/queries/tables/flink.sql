-- Two tables by the same key, from logs that can only grow: of each id the last record, unless that deletes it. Each of
-- the two tasks reads one half of a log, in order; all records of an id are in one of them.
CREATE TABLE item_log (
  id BIGINT, seller BIGINT, category BIGINT, price BIGINT, name STRING, op STRING, arrived AS PROCTIME()
) WITH ('connector' = 'filesystem', 'path' = '$data/item-halves', 'format' = '$format', 'csv.null-literal' = '');

CREATE TABLE offer_log (id BIGINT, bidder BIGINT, amount BIGINT, op STRING, arrived AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = '$data/offer-halves', 'format' = '$format', 'csv.null-literal' = '');

CREATE VIEW item AS SELECT id, seller, category, price, name FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY arrived DESC) AS place FROM item_log
) WHERE place = 1 AND op <> 'delete';

CREATE VIEW offer AS SELECT id, bidder, amount FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY arrived DESC) AS place FROM offer_log
) WHERE place = 1 AND op <> 'delete';
