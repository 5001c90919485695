CREATE STREAM s (k BIGINT, v BIGINT, note STRING, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL '10' SECOND)
  WITH (connector = 'kafka', topic = '$source', format = 'json', bootstrap_servers = '$servers', max_offsets_per_batch = $limit);
CREATE STREAM t (k BIGINT KEY, v BIGINT, note STRING, time TIMESTAMP)
  WITH (connector = 'kafka', topic = '$target', format = 'json', bootstrap_servers = '$servers', delivery = '$delivery');
INSERT INTO t SELECT STREAM k, v, note, time FROM s WHERE v < 500 AND time < TIMESTAMP '2024-01-02 00:00:00';
