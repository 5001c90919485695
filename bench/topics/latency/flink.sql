CREATE TABLE s (k BIGINT, v BIGINT, note STRING, made BIGINT)
  WITH ('connector' = 'kafka', 'topic' = '$source', 'properties.bootstrap.servers' = '$servers', 'format' = 'json',
    'scan.startup.mode' = 'earliest-offset');
CREATE TABLE t (k BIGINT, v BIGINT, note STRING, made BIGINT)
  WITH ('connector' = 'kafka', 'topic' = '$target', 'properties.bootstrap.servers' = '$servers', 'key.format' = 'csv',
    'key.fields' = 'k', 'value.format' = 'json', 'sink.delivery-guarantee' = 'at-least-once');
INSERT INTO t SELECT k, v, note, made FROM s WHERE v < 500;
