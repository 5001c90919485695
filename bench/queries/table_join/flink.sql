CREATE VIEW joined AS SELECT i.id, i.seller, i.price, o.bidder, o.amount
FROM item i LEFT JOIN offer o ON i.id = o.id;

CREATE TABLE out_ (id BIGINT, seller BIGINT, price BIGINT, bidder BIGINT, amount BIGINT, op STRING)
WITH ('connector' = 'filesystem', 'path' = '$out', 'format' = 'csv');

INSERT INTO out_ SELECT id, seller, price, bidder, amount, op
FROM TO_CHANGELOG(
  input => TABLE joined, op_mapping => MAP['INSERT, UPDATE_AFTER', 'upsert', 'DELETE', 'delete']);
