-- Rows that Spark makes, ten a second, to try a query without any data.
CREATE STREAM ticks (value BIGINT, timestamp TIMESTAMP, WATERMARK FOR timestamp AS timestamp)
WITH (connector = 'rate', rows_per_second = 10);

CREATE STREAM counts AS
SELECT STREAM window_start, COUNT(*) AS ticks
FROM ticks
GROUP BY TUMBLE(timestamp, INTERVAL '10' SECOND);
