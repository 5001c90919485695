-- Two tables by the same key: of each id the last record, unless that deletes it.
CREATE VIEW item_log AS SELECT *, row_number() OVER () AS place
FROM read_csv('$data/item/*.csv', header = false, columns = {
  id: 'BIGINT', seller: 'BIGINT', category: 'BIGINT', price: 'BIGINT', name: 'VARCHAR', op: 'VARCHAR'});

CREATE VIEW item AS SELECT * FROM item_log WHERE op <> 'delete'
  AND place IN (SELECT max(place) FROM item_log GROUP BY id);

CREATE VIEW offer_log AS SELECT *, row_number() OVER () AS place
FROM read_csv('$data/offer/*.csv', header = false, columns = {
  id: 'BIGINT', bidder: 'BIGINT', amount: 'BIGINT', op: 'VARCHAR'});

CREATE VIEW offer AS SELECT * FROM offer_log WHERE op <> 'delete'
  AND place IN (SELECT max(place) FROM offer_log GROUP BY id);
