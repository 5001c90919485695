CREATE VIEW counted AS SELECT category, COUNT(*) AS items, SUM(price) AS total FROM item GROUP BY category;

CREATE TABLE out_ (category BIGINT, items BIGINT, total BIGINT, op STRING)
WITH ('connector' = 'filesystem', 'path' = '$out', 'format' = 'csv');

INSERT INTO out_ SELECT category, items, total, op
FROM TO_CHANGELOG(
  input => TABLE counted, op_mapping => MAP['INSERT, UPDATE_AFTER', 'upsert', 'DELETE', 'delete']);
