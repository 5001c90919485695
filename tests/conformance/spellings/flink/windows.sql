-- Windows of Flink SQL: table functions, group windows of Calcite, ranks in windows.

-- name: tumbling windows as a table function
SELECT window_start, window_end, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
GROUP BY window_start, window_end;
-- same as
SELECT window_start, window_end, SUM(price) AS total FROM bid GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE);

-- name: tumbling windows without TABLE around the function
SELECT window_start, window_end, SUM(price) AS total
FROM TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)
GROUP BY window_start, window_end;
-- same as
SELECT window_start, window_end, SUM(price) AS total FROM bid GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE);

-- name: tumbling windows with named arguments
SELECT window_start, window_end, SUM(price) AS total
FROM TABLE(TUMBLE(DATA => TABLE bid, TIMECOL => DESCRIPTOR(bidtime), SIZE => INTERVAL '10' MINUTES))
GROUP BY window_start, window_end;
-- same as
SELECT window_start, window_end, SUM(price) AS total FROM bid GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE);

-- name: tumbling windows with a key
SELECT auction, window_start, window_end, COUNT(*) AS num
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR))
GROUP BY auction, window_start, window_end;
-- same as
SELECT auction, window_start, window_end, COUNT(*) AS num FROM bid
GROUP BY auction, TUMBLE(bidtime, INTERVAL '1' HOUR);

-- name: window columns first in GROUP BY
SELECT window_start, window_end, auction, COUNT(*) AS num
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, auction;
-- same as
SELECT window_start, window_end, auction, COUNT(*) AS num FROM bid
GROUP BY auction, TUMBLE(bidtime, INTERVAL '1' HOUR);

-- name: an alias of the windowed table
SELECT w.auction, w.window_start, COUNT(*) AS num
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) AS w
GROUP BY w.auction, w.window_start, w.window_end;
-- same as
SELECT auction, window_start, COUNT(*) AS num FROM bid GROUP BY auction, TUMBLE(bidtime, INTERVAL '1' HOUR);

-- name: hopping windows as a table function
SELECT window_start, window_end, SUM(price) AS total
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES))
GROUP BY window_start, window_end;
-- same as
SELECT window_start, window_end, SUM(price) AS total FROM bid
GROUP BY HOP(bidtime, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE);

-- name: hopping windows with named arguments
SELECT window_start, window_end, SUM(price) AS total
FROM TABLE(HOP(
  DATA => TABLE bid, TIMECOL => DESCRIPTOR(bidtime), SLIDE => INTERVAL '5' MINUTES, SIZE => INTERVAL '10' MINUTES))
GROUP BY window_start, window_end;
-- same as
SELECT window_start, window_end, SUM(price) AS total FROM bid
GROUP BY HOP(bidtime, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE);

-- name: hopping windows with named arguments in another order
SELECT window_start, window_end, SUM(price) AS total
FROM TABLE(HOP(
  DATA => TABLE bid, TIMECOL => DESCRIPTOR(bidtime), SIZE => INTERVAL '10' MINUTES, SLIDE => INTERVAL '5' MINUTES))
GROUP BY window_start, window_end;
-- same as
SELECT window_start, window_end, SUM(price) AS total FROM bid
GROUP BY HOP(bidtime, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE);

-- name: cumulating windows as a table function
SELECT window_start, window_end, SUM(price) AS total
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES))
GROUP BY window_start, window_end;
-- same as
SELECT window_start, window_end, SUM(price) AS total FROM bid
GROUP BY CUMULATE(bidtime, INTERVAL '2' MINUTE, INTERVAL '10' MINUTE);

-- name: cumulating windows with named arguments
SELECT window_start, window_end, SUM(price) AS total
FROM TABLE(CUMULATE(
  DATA => TABLE bid, TIMECOL => DESCRIPTOR(bidtime), STEP => INTERVAL '2' MINUTES, SIZE => INTERVAL '10' MINUTES))
GROUP BY window_start, window_end;
-- same as
SELECT window_start, window_end, SUM(price) AS total FROM bid
GROUP BY CUMULATE(bidtime, INTERVAL '2' MINUTE, INTERVAL '10' MINUTE);

-- name: sessions of a key as a table function
CREATE STREAM visits AS
SELECT STREAM bidder, window_start, window_end, COUNT(*) AS num
FROM TABLE(SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES))
GROUP BY bidder, window_start, window_end;
-- same as
CREATE STREAM visits AS
SELECT STREAM bidder, window_start, window_end, COUNT(*) AS num FROM bid
GROUP BY bidder, SESSION(bidtime, INTERVAL '5' MINUTE);

-- name: sessions without a key
CREATE STREAM visits AS
SELECT STREAM window_start, window_end, SUM(price) AS total
FROM TABLE(SESSION(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES))
GROUP BY window_start, window_end;
-- same as
CREATE STREAM visits AS
SELECT STREAM window_start, window_end, SUM(price) AS total FROM bid GROUP BY SESSION(bidtime, INTERVAL '5' MINUTE);

-- name: sessions with named arguments
CREATE STREAM visits AS
SELECT STREAM bidder, window_start, window_end, SUM(price) AS total
FROM TABLE(SESSION(
  DATA => TABLE bid PARTITION BY bidder, TIMECOL => DESCRIPTOR(bidtime), GAP => INTERVAL '5' MINUTES))
GROUP BY bidder, window_start, window_end;
-- same as
CREATE STREAM visits AS
SELECT STREAM bidder, window_start, window_end, SUM(price) AS total FROM bid
GROUP BY bidder, SESSION(bidtime, INTERVAL '5' MINUTE);

-- name: windows with an offset
-- The offset moves every window by one minute.
SELECT window_start, window_end, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES, INTERVAL '1' MINUTES))
GROUP BY window_start, window_end;
-- refused: S026, TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)

-- name: rows with their windows
CREATE VIEW windowed AS
SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES));
-- same as
CREATE VIEW windowed AS SELECT * FROM TUMBLE(bid, bidtime, INTERVAL '10' MINUTE);

-- name: chosen columns of rows with their windows
CREATE VIEW windowed AS
SELECT auction, price, window_start, window_end
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES));
-- same as
CREATE VIEW windowed AS
SELECT auction, price, window_start, window_end FROM HOP(bid, bidtime, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE);

-- name: a filter below the windows
SELECT window_start, window_end, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
WHERE price > 100
GROUP BY window_start, window_end;
-- same as
SELECT window_start, window_end, SUM(price) AS total FROM bid WHERE price > 100
GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE);

-- name: HAVING over windows
CREATE STREAM busy AS
SELECT STREAM auction, window_start, COUNT(*) AS num
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
GROUP BY auction, window_start, window_end
HAVING COUNT(*) > 10;
-- same as
CREATE STREAM busy AS
SELECT STREAM auction, window_start, COUNT(*) AS num FROM bid
GROUP BY auction, TUMBLE(bidtime, INTERVAL '10' MINUTE) HAVING COUNT(*) > 10;

-- name: windows written to a stream
-- A window of Flink is sent once, when it is final. So is that of a stream.
INSERT INTO bids_per_window
SELECT window_start, window_end, SUM(price)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
GROUP BY window_start, window_end;
-- same as
INSERT INTO bids_per_window
SELECT STREAM window_start, window_end, SUM(price) FROM bid GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE);

-- name: grouping sets of windows
SELECT window_start, window_end, auction, SUM(price) AS total, GROUPING_ID(auction) AS grouping_id
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
GROUP BY window_start, window_end, GROUPING SETS ((auction), ());
-- same as
SELECT window_start, window_end, auction, SUM(price) AS total, GROUPING_ID() AS grouping_id FROM bid
GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE), GROUPING SETS ((auction), ());

-- name: rollup of windows
SELECT window_start, window_end, auction, SUM(price) AS total, GROUPING_ID() AS grouping_id
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
GROUP BY window_start, window_end, ROLLUP (auction);
-- same as
SELECT window_start, window_end, auction, SUM(price) AS total, GROUPING_ID() AS grouping_id FROM bid
GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE), ROLLUP(auction);

-- name: the group window TUMBLE
SELECT auction, TUMBLE_START(bidtime, INTERVAL '1' DAY) AS started, SUM(price) AS total
FROM bid GROUP BY TUMBLE(bidtime, INTERVAL '1' DAY), auction;
-- same as
SELECT auction, window_start AS started, SUM(price) AS total FROM bid
GROUP BY TUMBLE(bidtime, INTERVAL '1' DAY), auction;

-- name: both ends of the group window TUMBLE
SELECT auction, TUMBLE_START(bidtime, INTERVAL '1' DAY) AS started, TUMBLE_END(bidtime, INTERVAL '1' DAY) AS ended,
  SUM(price) AS total
FROM bid GROUP BY auction, TUMBLE(bidtime, INTERVAL '1' DAY);
-- same as
SELECT auction, window_start AS started, window_end AS ended, SUM(price) AS total FROM bid
GROUP BY auction, TUMBLE(bidtime, INTERVAL '1' DAY);

-- name: the row time of the group window TUMBLE
-- The row time of a window is its last millisecond.
CREATE STREAM daily AS
SELECT STREAM auction, window_start, TUMBLE_ROWTIME(bidtime, INTERVAL '1' DAY) AS rowtime, SUM(price) AS total
FROM bid GROUP BY auction, TUMBLE(bidtime, INTERVAL '1' DAY);
-- same as
CREATE STREAM daily AS
SELECT STREAM auction, window_start, window_end - INTERVAL '1' MILLISECOND AS rowtime, SUM(price) AS total
FROM bid GROUP BY auction, TUMBLE(bidtime, INTERVAL '1' DAY);

-- name: the group window HOP
SELECT auction, HOP_START(bidtime, INTERVAL '5' MINUTE, INTERVAL '1' HOUR) AS started,
  HOP_END(bidtime, INTERVAL '5' MINUTE, INTERVAL '1' HOUR) AS ended, COUNT(*) AS num
FROM bid GROUP BY auction, HOP(bidtime, INTERVAL '5' MINUTE, INTERVAL '1' HOUR);
-- same as
SELECT auction, window_start AS started, window_end AS ended, COUNT(*) AS num FROM bid
GROUP BY auction, HOP(bidtime, INTERVAL '5' MINUTE, INTERVAL '1' HOUR);

-- name: the row time of the group window HOP
CREATE STREAM hourly AS
SELECT STREAM auction, window_end, HOP_ROWTIME(bidtime, INTERVAL '5' MINUTE, INTERVAL '1' HOUR) AS rowtime
FROM bid GROUP BY auction, HOP(bidtime, INTERVAL '5' MINUTE, INTERVAL '1' HOUR);
-- same as
CREATE STREAM hourly AS
SELECT STREAM auction, window_end, window_end - INTERVAL '1' MILLISECOND AS rowtime
FROM bid GROUP BY auction, HOP(bidtime, INTERVAL '5' MINUTE, INTERVAL '1' HOUR);

-- name: the group window SESSION
CREATE STREAM visits AS
SELECT STREAM bidder, SESSION_START(bidtime, INTERVAL '12' HOUR) AS started, SESSION_END(bidtime, INTERVAL '12' HOUR) AS ended,
  SUM(price) AS total
FROM bid GROUP BY SESSION(bidtime, INTERVAL '12' HOUR), bidder;
-- same as
CREATE STREAM visits AS
SELECT STREAM bidder, window_start AS started, window_end AS ended, SUM(price) AS total FROM bid
GROUP BY SESSION(bidtime, INTERVAL '12' HOUR), bidder;

-- name: an end of another window than that of GROUP BY
SELECT auction, TUMBLE_START(bidtime, INTERVAL '1' HOUR) AS started, SUM(price) AS total
FROM bid GROUP BY auction, TUMBLE(bidtime, INTERVAL '1' DAY);
-- refused: W009

-- name: windows of processing time
SELECT window_start, window_end, COUNT(*) AS num
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(PROCTIME()), INTERVAL '10' MINUTES))
GROUP BY window_start, window_end;
-- refused: W014

-- name: the group window of processing time
SELECT auction, COUNT(*) AS num FROM bid GROUP BY auction, TUMBLE(PROCTIME(), INTERVAL '1' HOUR);
-- refused: W014

-- name: Top-N of windows
CREATE STREAM top_sellers AS
SELECT STREAM * FROM (
  SELECT auction, window_start, num,
    ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY num DESC) AS rownum
  FROM (
    SELECT auction, window_start, window_end, COUNT(*) AS num
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
    GROUP BY auction, window_start, window_end
  )
) WHERE rownum <= 3;
-- same as
CREATE STREAM top_sellers AS
SELECT STREAM * FROM (
  SELECT STREAM auction, window_start, num,
    ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY num DESC) AS rownum
  FROM (
    SELECT STREAM auction, window_start, window_end, COUNT(*) AS num FROM bid
    GROUP BY auction, TUMBLE(bidtime, INTERVAL '10' MINUTE)
  )
) WHERE rownum <= 3;

-- name: Top-N of the rows of a window
CREATE STREAM highest AS
SELECT STREAM * FROM (
  SELECT auction, price, window_start,
    ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) AS rownum
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
) WHERE rownum <= 3;
-- same as
CREATE STREAM highest AS
SELECT STREAM * FROM (
  SELECT STREAM auction, price, window_start,
    ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) AS rownum
  FROM TUMBLE(bid, bidtime, INTERVAL '10' MINUTE)
) WHERE rownum <= 3;

-- name: deduplication of windows
CREATE STREAM latest AS
SELECT STREAM auction, price, window_start FROM (
  SELECT auction, price, window_start,
    ROW_NUMBER() OVER (PARTITION BY window_start, window_end, auction ORDER BY bidtime DESC) AS rownum
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
) WHERE rownum = 1;
-- same as
CREATE STREAM latest AS
SELECT STREAM auction, price, window_start FROM (
  SELECT STREAM auction, price, window_start,
    ROW_NUMBER() OVER (PARTITION BY window_start, window_end, auction ORDER BY bidtime DESC) AS rownum
  FROM TUMBLE(bid, bidtime, INTERVAL '10' MINUTE)
) WHERE rownum = 1;

-- name: a join of two windowed tables
CREATE VIEW joined AS
SELECT o.user_id, o.window_start, o.spent, p.views
FROM (
  SELECT user_id, window_start, window_end, SUM(amount) AS spent
  FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '1' HOUR))
  GROUP BY user_id, window_start, window_end
) o
JOIN (
  SELECT user_id, window_start, window_end, COUNT(*) AS views
  FROM TABLE(TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' HOUR))
  GROUP BY user_id, window_start, window_end
) p
ON o.user_id = p.user_id AND o.window_start = p.window_start AND o.window_end = p.window_end;
-- same as
CREATE VIEW joined AS
SELECT o.user_id, o.window_start, o.spent, p.views
FROM (
  SELECT user_id, window_start, window_end, SUM(amount) AS spent FROM orders
  GROUP BY user_id, TUMBLE(order_time, INTERVAL '1' HOUR)
) o
JOIN (
  SELECT user_id, window_start, window_end, COUNT(*) AS views FROM pageviews
  GROUP BY user_id, TUMBLE(viewtime, INTERVAL '1' HOUR)
) p
ON o.user_id = p.user_id AND o.window_start = p.window_start AND o.window_end = p.window_end;
