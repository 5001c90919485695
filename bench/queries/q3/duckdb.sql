SELECT p.name, p.city, p.state, a.id
FROM auction a JOIN person p
  ON a.seller = p.id AND a.time BETWEEN p.time AND p.time + INTERVAL 10 MINUTE
WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA');
