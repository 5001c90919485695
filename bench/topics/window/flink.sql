CREATE TABLE s (k BIGINT, v BIGINT, note STRING, `time` TIMESTAMP_LTZ(3), WATERMARK FOR `time` AS `time` - INTERVAL '10' SECOND)
  WITH ('connector' = 'kafka', 'topic' = '$source', 'properties.bootstrap.servers' = '$servers', 'format' = 'json',
    'json.timestamp-format.standard' = 'ISO-8601', 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
CREATE TABLE t (k BIGINT, `time` TIMESTAMP_LTZ(3), n BIGINT, total BIGINT)
  WITH ('connector' = 'kafka', 'topic' = '$target', 'properties.bootstrap.servers' = '$servers', 'key.format' = 'csv',
    'key.fields' = 'k', 'value.format' = 'json', 'value.json.timestamp-format.standard' = 'ISO-8601',
    'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '$target',
    'properties.transaction.timeout.ms' = '600000');
INSERT INTO t SELECT k, CAST(window_start AS TIMESTAMP_LTZ(3)), COUNT(*), SUM(v)
  FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(`time`), INTERVAL '1' MINUTE))
  WHERE `time` < TO_TIMESTAMP_LTZ(1704153600000, 3)
  GROUP BY k, window_start, window_end;
