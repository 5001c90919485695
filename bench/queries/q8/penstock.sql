CREATE STREAM out (id BIGINT, name STRING, window_start TIMESTAMP)
WITH (connector = 'files', path = '$out', format = 'csv', header = false);

INSERT INTO out
SELECT STREAM p.id AS id, p.name AS name, p.window_start AS window_start
FROM (SELECT STREAM id, name, window_start, window_end FROM person
      GROUP BY id, name, TUMBLE(time, INTERVAL '1' MINUTE)) p
JOIN (SELECT STREAM seller, window_start, window_end FROM auction
      GROUP BY seller, TUMBLE(time, INTERVAL '1' MINUTE)) a
  ON p.id = a.seller AND p.window_start = a.window_start;
