-- Windows of Spark SQL over streams.

-- name: window in GROUP BY
CREATE VIEW counts AS
SELECT window.start AS started, window.end AS ended, COUNT(*) AS num FROM bid GROUP BY window(bidtime, '10 minutes');
-- same as
CREATE VIEW counts AS
SELECT window_start AS started, window_end AS ended, COUNT(*) AS num FROM bid
GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE);

-- name: a sliding window
CREATE VIEW counts AS
SELECT auction, window.start AS started, COUNT(*) AS num FROM bid
GROUP BY auction, window(bidtime, '10 minutes', '5 minutes');
-- same as
CREATE VIEW counts AS
SELECT auction, window_start AS started, COUNT(*) AS num FROM bid
GROUP BY auction, HOP(bidtime, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE);

-- name: a sliding window that slides by its length
CREATE VIEW counts AS
SELECT auction, COUNT(*) AS num FROM bid GROUP BY auction, window(bidtime, '10 minutes', '10 minutes');
-- same as
CREATE VIEW counts AS
SELECT auction, COUNT(*) AS num FROM bid GROUP BY auction, TUMBLE(bidtime, INTERVAL '10' MINUTE);

-- name: a window that begins later
CREATE VIEW counts AS
SELECT auction, COUNT(*) AS num FROM bid GROUP BY auction, window(bidtime, '1 hour', '1 hour', '15 minutes');
-- refused: W006

-- name: a window by its interval literal
CREATE VIEW counts AS
SELECT auction, COUNT(*) AS num FROM bid GROUP BY auction, window(bidtime, INTERVAL 10 MINUTES);
-- same as
CREATE VIEW counts AS
SELECT auction, COUNT(*) AS num FROM bid GROUP BY auction, TUMBLE(bidtime, INTERVAL '10' MINUTE);

-- name: a window of weeks
CREATE VIEW counts AS
SELECT auction, window.start AS started, COUNT(*) AS num FROM bid GROUP BY auction, window(bidtime, '1 week');
-- same as
CREATE VIEW counts AS
SELECT auction, window_start AS started, COUNT(*) AS num FROM bid GROUP BY auction, TUMBLE(bidtime, INTERVAL '1' WEEK);

-- name: a window of months
CREATE VIEW counts AS SELECT auction, COUNT(*) AS num FROM bid GROUP BY auction, window(bidtime, '1 month');
-- refused: W004

-- name: the window as a column
-- The struct has the two times, as in Spark.
CREATE VIEW counts AS SELECT window, COUNT(*) AS num FROM bid GROUP BY window(bidtime, '10 minutes');
-- same as
CREATE VIEW counts AS
SELECT NAMED_STRUCT('start', window_start, 'end', window_end) AS window, COUNT(*) AS num FROM bid
GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE);

-- name: a window with an alias
CREATE VIEW counts AS
SELECT window(bidtime, '10 minutes') AS w, COUNT(*) AS num FROM bid GROUP BY window(bidtime, '10 minutes');
-- same as
CREATE VIEW counts AS
SELECT NAMED_STRUCT('start', window_start, 'end', window_end) AS w, COUNT(*) AS num FROM bid
GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE);

-- name: session_window
CREATE STREAM visits AS
SELECT STREAM user_id, session_window.start AS started, session_window.end AS ended, COUNT(*) AS num
FROM pageviews GROUP BY user_id, session_window(viewtime, '5 minutes');
-- same as
CREATE STREAM visits AS
SELECT STREAM user_id, window_start AS started, window_end AS ended, COUNT(*) AS num
FROM pageviews GROUP BY user_id, SESSION(viewtime, INTERVAL '5' MINUTE);

-- name: a session whose gap is computed
CREATE STREAM visits AS
SELECT STREAM user_id, COUNT(*) AS num FROM pageviews
GROUP BY user_id, session_window(viewtime, CASE WHEN page_id = 'home' THEN '5 seconds' ELSE '1 minute' END);
-- refused: W006

-- name: window_time
CREATE STREAM counts AS
SELECT STREAM window_time(window) AS at, COUNT(*) AS num FROM bid GROUP BY window(bidtime, '10 minutes');
-- same as
CREATE STREAM counts AS
SELECT STREAM window_end - INTERVAL '0.000001' SECOND AS at, COUNT(*) AS num FROM bid
GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE);

-- name: a window that begins at an odd time
CREATE STREAM counts AS
SELECT STREAM window.start AS at, COUNT(*) AS num FROM bid GROUP BY window(bidtime, '10 minutes', '10 minutes', '2 minutes');
-- refused: W006, WINDOW(bidtime, '10 minutes', '10 minutes')

-- name: a window that begins at the usual time
CREATE STREAM counts AS
SELECT STREAM window.start AS at, COUNT(*) AS num FROM bid GROUP BY window(bidtime, '10 minutes', '10 minutes', '0 minutes');
-- same as
CREATE STREAM counts AS
SELECT STREAM window_start AS at, COUNT(*) AS num FROM bid GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE);

-- name: HAVING over a window
CREATE STREAM busy AS
SELECT STREAM auction, window.start AS started, COUNT(*) AS num FROM bid
GROUP BY window(bidtime, '10 minutes'), auction HAVING COUNT(*) > 5;
-- same as
CREATE STREAM busy AS
SELECT STREAM auction, window_start AS started, COUNT(*) AS num FROM bid
GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE), auction HAVING COUNT(*) > 5;

-- name: a window of the current time
CREATE VIEW counts AS SELECT COUNT(*) AS num FROM bid GROUP BY window(current_timestamp(), '10 minutes');
-- refused: W014

-- name: a window of a stream without a watermark
CREATE VIEW counts AS SELECT COUNT(*) AS num FROM alerts GROUP BY window(amount, '10 minutes');
-- refused: W001

-- name: two windows
CREATE VIEW counts AS
SELECT COUNT(*) AS num FROM bid GROUP BY window(bidtime, '10 minutes'), window(bidtime, '1 hour');
-- refused: W009

-- name: WATERMARK in a query
CREATE VIEW counts AS
SELECT window.start AS started, COUNT(*) AS num
FROM bid WATERMARK bidtime DELAY OF INTERVAL 10 SECONDS GROUP BY window(bidtime, '10 minutes');
-- refused: B002, WATERMARK FOR

-- name: window beside GROUP BY ALL
CREATE VIEW counts AS
SELECT auction, window(bidtime, '10 minutes').start AS started, COUNT(*) AS num FROM bid GROUP BY ALL;
-- same as
CREATE VIEW counts AS
SELECT auction, window_start AS started, COUNT(*) AS num FROM bid GROUP BY auction, TUMBLE(bidtime, INTERVAL '10' MINUTE);
