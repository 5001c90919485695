-- A visit meets the newest record of its own micro-batch, or of those before: file by file.
CREATE VIEW visit AS SELECT *, parse_filename(filename) AS file
FROM read_csv('$data/visit/*.csv', header = false, filename = true, columns = {item: 'BIGINT', visitor: 'BIGINT'});

CREATE VIEW item_by_file AS SELECT * FROM (
  SELECT id, seller, price, op, parse_filename(filename) AS file, row_number() OVER () AS place
  FROM read_csv('$data/item/*.csv', header = false, filename = true, columns = {
    id: 'BIGINT', seller: 'BIGINT', category: 'BIGINT', price: 'BIGINT', name: 'VARCHAR', op: 'VARCHAR'}))
QUALIFY row_number() OVER (PARTITION BY id, file ORDER BY place DESC) = 1;

SELECT v.visitor, v.item, CASE WHEN i.op = 'upsert' THEN i.seller END AS seller,
  CASE WHEN i.op = 'upsert' THEN i.price END AS price
FROM visit v ASOF LEFT JOIN item_by_file i ON v.item = i.id AND v.file >= i.file;
