-- Visits of users as sessions, and sliding counts in the older and the newer spelling.
CREATE TABLE page_views (
  user_id BIGINT, page STRING, dwell INT, tags ARRAY<STRING>, props MAP<STRING, STRING>, info ROW<browser STRING, version INT>,
  view_time TIMESTAMP_LTZ(3), WATERMARK FOR view_time AS view_time - INTERVAL '20' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in/page_views', 'format' = 'json');

CREATE TABLE visits (user_id BIGINT, started TIMESTAMP(3), ended TIMESTAMP(3), pages BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'out/visits', 'format' = 'parquet');

INSERT INTO visits
SELECT user_id, SESSION_START(view_time, INTERVAL '30' MINUTE), SESSION_END(view_time, INTERVAL '30' MINUTE), COUNT(*)
FROM page_views GROUP BY user_id, SESSION(view_time, INTERVAL '30' MINUTE);

CREATE TABLE sliding (page STRING, window_end TIMESTAMP(3), views BIGINT, mean DOUBLE)
WITH ('connector' = 'filesystem', 'path' = 'out/sliding', 'format' = 'json');

INSERT INTO sliding
SELECT page, window_end, COUNT(*), AVG(CAST(dwell AS DOUBLE))
FROM TABLE(HOP(DATA => TABLE page_views, TIMECOL => DESCRIPTOR(view_time), SLIDE => INTERVAL '5' MINUTES, SIZE => INTERVAL '1' HOUR))
GROUP BY page, window_start, window_end;

CREATE TABLE tagged (user_id BIGINT, tag STRING, browser STRING, ref STRING, first_tag STRING)
WITH ('connector' = 'filesystem', 'path' = 'out/tagged', 'format' = 'json');

INSERT INTO tagged
SELECT user_id, t.tag, info.browser, props['ref'], tags[1]
FROM page_views CROSS JOIN UNNEST(tags) AS t (tag)
WHERE info.version > 3 AND CARDINALITY(tags) > 0;
