CREATE TABLE l (k BIGINT, v BIGINT, note STRING, `time` TIMESTAMP_LTZ(6), at_ms AS CAST(`time` AS TIMESTAMP_LTZ(3)),
    WATERMARK FOR at_ms AS at_ms - INTERVAL '10' SECOND)
  WITH ('connector' = 'kafka', 'topic' = '$source', 'properties.bootstrap.servers' = '$servers', 'format' = 'json',
    'json.timestamp-format.standard' = 'ISO-8601', 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
CREATE TABLE r (k BIGINT, w BIGINT, `time` TIMESTAMP_LTZ(3), WATERMARK FOR `time` AS `time` - INTERVAL '10' SECOND)
  WITH ('connector' = 'kafka', 'topic' = '$other', 'properties.bootstrap.servers' = '$servers', 'format' = 'json',
    'json.timestamp-format.standard' = 'ISO-8601', 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
CREATE TABLE pairs (k BIGINT, v BIGINT, w BIGINT, `time` TIMESTAMP(6), PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'jdbc', 'url' = '$jdbc', 'table-name' = 'pairs', 'username' = 'postgres', 'password' = '',
    'sink.buffer-flush.max-rows' = '10000');
INSERT INTO pairs SELECT l.k, l.v, r.w, CAST(l.`time` AS TIMESTAMP(6)) FROM l JOIN r
  ON l.k = r.k AND r.`time` BETWEEN l.at_ms - INTERVAL '10' SECOND AND l.at_ms + INTERVAL '10' SECOND
  WHERE l.at_ms < TO_TIMESTAMP_LTZ(1704153600000, 3);
