-- Forms that Penstock accepts, with a warning where they mean something else in Flink.

-- name: ARRAY_SORT
CREATE STREAM v AS SELECT ARRAY_SORT(numbers) AS a FROM events;
-- warned: T020, SORT_ARRAY(numbers)
-- same as
CREATE STREAM v AS SELECT STREAM ARRAY_SORT(numbers) AS a FROM events;

-- name: TO_TIMESTAMP_LTZ with a zone
CREATE STREAM v AS SELECT TO_TIMESTAMP_LTZ(kind, 'yyyy', 'UTC') AS a FROM events;
-- same as
CREATE STREAM v AS SELECT STREAM TO_UTC_TIMESTAMP(TO_TIMESTAMP(kind, 'yyyy'), 'UTC') AS a FROM events;

-- name: the window in each of GROUPING SETS
CREATE STREAM s AS SELECT window_start, window_end, bidder, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
GROUP BY GROUPING SETS ((window_start, window_end, bidder), (window_start, window_end));
-- same as
CREATE STREAM s AS SELECT STREAM window_start, window_end, bidder, SUM(price) AS total FROM bid
GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE), GROUPING SETS ((bidder), ());

-- name: the window in some of GROUPING SETS
CREATE STREAM s AS SELECT window_start, window_end, bidder, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
GROUP BY GROUPING SETS ((window_start, window_end, bidder), (bidder));
-- refused: W016, GROUP BY has the window in front of GROUPING SETS
