CREATE TABLE s (k BIGINT, v BIGINT, note STRING, `time` TIMESTAMP_LTZ(6))
  WITH ('connector' = 'kafka', 'topic' = '$source', 'properties.bootstrap.servers' = '$servers', 'format' = 'json',
    'json.timestamp-format.standard' = 'ISO-8601', 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
CREATE TABLE t (k BIGINT, v BIGINT, note STRING, `time` TIMESTAMP_LTZ(6))
  WITH ('connector' = 'kafka', 'topic' = '$target', 'properties.bootstrap.servers' = '$servers', 'key.format' = 'csv',
    'key.fields' = 'k', 'value.format' = 'json', 'value.json.timestamp-format.standard' = 'ISO-8601',
    'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '$target',
    'properties.transaction.timeout.ms' = '600000');
INSERT INTO t SELECT k, v, note, `time` FROM s WHERE v < 500 AND `time` < TO_TIMESTAMP_LTZ(1704153600000, 3);
