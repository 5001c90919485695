CREATE STREAM s (k BIGINT, v BIGINT, note STRING, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL '10' SECOND)
  WITH (connector = 'kafka', topic = '$source', format = 'json', bootstrap_servers = '$servers', max_offsets_per_batch = $limit);
CREATE STREAM t (k BIGINT KEY, time TIMESTAMP, n BIGINT, total BIGINT)
  WITH (connector = 'kafka', topic = '$target', format = 'json', bootstrap_servers = '$servers', delivery = '$delivery');
INSERT INTO t SELECT STREAM k, window_start AS time, COUNT(*) AS n, SUM(v) AS total FROM s
  WHERE time < TIMESTAMP '2024-01-02 00:00:00'
  GROUP BY k, TUMBLE(time, INTERVAL '1' MINUTE);
