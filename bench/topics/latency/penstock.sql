SET trigger = '$trigger';
SET trigger_interval = 1 MILLISECOND;
CREATE STREAM s (k BIGINT, v BIGINT, note STRING, made BIGINT)
  WITH (connector = 'kafka', topic = '$source', format = 'json', bootstrap_servers = '$servers');
CREATE STREAM t (k BIGINT KEY, v BIGINT, note STRING, made BIGINT)
  WITH (connector = 'kafka', topic = '$target', format = 'json', bootstrap_servers = '$servers', delivery = 'at_least_once');
INSERT INTO t SELECT STREAM k, v, note, made FROM s WHERE v < 500;
