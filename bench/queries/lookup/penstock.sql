CREATE STREAM visit (item BIGINT KEY, visitor BIGINT)
WITH (connector = 'files', path = '$data/visit', format = '$format'$csv, files_per_batch = 1);

CREATE STREAM out (visitor BIGINT, item BIGINT, seller BIGINT, price BIGINT)
WITH (connector = 'files', path = '$out', format = 'csv', header = false);

INSERT INTO out
SELECT STREAM v.visitor AS visitor, v.item AS item, i.seller AS seller, i.price AS price
FROM visit v LEFT JOIN item i ON v.item = i.id;
