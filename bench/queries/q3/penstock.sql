CREATE STREAM out (name STRING, city STRING, state STRING, id BIGINT)
WITH (connector = 'files', path = '$out', format = 'csv', header = false);

INSERT INTO out
SELECT STREAM p.name AS name, p.city AS city, p.state AS state, a.id AS id
FROM auction a JOIN person p
  ON a.seller = p.id AND a.time BETWEEN p.time AND p.time + INTERVAL '10' MINUTE
WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA');
