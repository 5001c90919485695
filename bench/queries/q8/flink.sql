CREATE TABLE out_ (id BIGINT, name STRING, window_start TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = '$out', 'format' = 'csv');

INSERT INTO out_
SELECT p.id, p.name, p.window_start
FROM (SELECT id, name, window_start, window_end
      FROM TABLE(TUMBLE(TABLE person, DESCRIPTOR(`time`), INTERVAL '1' MINUTE))
      GROUP BY id, name, window_start, window_end) p
JOIN (SELECT seller, window_start, window_end
      FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(`time`), INTERVAL '1' MINUTE))
      GROUP BY seller, window_start, window_end) a
  ON p.id = a.seller AND p.window_start = a.window_start AND p.window_end = a.window_end;
