CREATE STREAM l (k BIGINT, v BIGINT, note STRING, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL '10' SECOND)
  WITH (connector = 'kafka', topic = '$source', format = 'json', bootstrap_servers = '$servers', max_offsets_per_batch = $limit);
CREATE STREAM r (k BIGINT, w BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL '10' SECOND)
  WITH (connector = 'kafka', topic = '$other', format = 'json', bootstrap_servers = '$servers', max_offsets_per_batch = $limit);
CREATE TABLE pairs (k BIGINT PRIMARY KEY, v BIGINT, w BIGINT, time TIMESTAMP)
  WITH (connector = 'postgres', url = '$url', table = 'pairs');
INSERT INTO pairs SELECT STREAM l.k, l.v, r.w, l.time FROM l JOIN r
  ON l.k = r.k AND r.time BETWEEN l.time - INTERVAL '10' SECOND AND l.time + INTERVAL '10' SECOND
  WHERE l.time < TIMESTAMP '2024-01-02 00:00:00';
