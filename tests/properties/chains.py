"""Scripts in which operators with state stand over one another, and histories without late rows to run them over."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

import penstock
from penstock.evaluator.history import History
from penstock.planner.plan import RunningQuery
from tests.properties import streams

_COUNTS = "(SELECT k, COUNT(*) AS n, SUM(v) AS total FROM {} GROUP BY k, TUMBLE(time, 2 SEC))"
CHAINS: Mapping[str, str] = {
    "windows of a join": """
        SELECT STREAM k, window_start, COUNT(*) AS n, SUM(w) AS total
        FROM (SELECT STREAM a.k AS k, a.time AS time, b.v AS w
              FROM a JOIN b ON a.k = b.k AND b.time BETWEEN a.time - 2 SEC AND a.time + 3 SEC) pairs
        GROUP BY k, TUMBLE(time, 4 SEC)""",
    "sessions of a join, by the time of its right side": """
        SELECT STREAM k, window_start, window_end, COUNT(*) AS n
        FROM (SELECT STREAM a.k AS k, b.time AS later
              FROM a JOIN b ON a.k = b.k AND b.time > a.time AND b.time <= a.time + 5 SEC) pairs
        GROUP BY k, SESSION(later, 2 SEC)""",
    "windows of a semi join": """
        SELECT STREAM window_start, COUNT(*) AS n
        FROM (SELECT STREAM a.time AS time
              FROM a LEFT SEMI JOIN b ON a.k = b.k AND b.time BETWEEN a.time AND a.time + 2 SEC) found
        GROUP BY TUMBLE(time, 3 SEC)""",
    "a join of a join, bounded by its right side": """
        SELECT STREAM a.id AS a, b.id AS b, c.id AS c FROM a
        JOIN b ON a.k = b.k AND b.time BETWEEN a.time - 1 SEC AND a.time + 2 SEC
        JOIN c ON a.k = c.k AND c.time BETWEEN b.time AND b.time + 3 SEC""",
    "left joins, bounded one by the other": """
        SELECT STREAM a.id AS a, b.id AS b, c.id AS c FROM a
        LEFT JOIN b ON a.k = b.k AND b.time BETWEEN a.time - 1 SEC AND a.time + 2 SEC
        LEFT JOIN c ON b.k = c.k AND c.time BETWEEN b.time - 1 SEC AND b.time + 1 SEC""",
    "a join bounded by the right side of a left one, in WHERE": """
        SELECT STREAM x.a AS a, x.b AS b, c.id AS c
        FROM (SELECT STREAM a.id AS a, a.k AS k, a.time AS time, b.id AS b, b.time AS later FROM a
              LEFT JOIN b ON a.k = b.k AND b.time > a.time AND b.time < a.time + 3 SEC) x
        JOIN c ON x.k = c.k WHERE c.time BETWEEN x.later AND x.later + 2 SEC""",
    "three streams, bounded in WHERE": """
        SELECT STREAM a.id AS a, b.id AS b, c.id AS c FROM a JOIN b ON a.k = b.k JOIN c ON a.k = c.k
        WHERE b.time BETWEEN a.time AND a.time + 2 SEC AND c.time BETWEEN a.time - 1 SEC AND a.time + 1 SEC
          AND b.v > 0""",
    "windows of a join of a join": """
        SELECT STREAM window_start, COUNT(*) AS n
        FROM (SELECT STREAM a.time AS time FROM a
              JOIN b ON a.k = b.k AND b.time BETWEEN a.time - 1 SEC AND a.time + 2 SEC
              LEFT SEMI JOIN c ON c.k = b.k AND c.time BETWEEN b.time - 2 SEC AND b.time) found
        GROUP BY HOP(time, 2 SEC, 5 SEC)""",
    "windows of windows": """
        SELECT STREAM window_start, MAX(n) AS most, SUM(n) AS total
        FROM (SELECT STREAM k, window_start AS start, COUNT(*) AS n FROM a GROUP BY k, TUMBLE(time, 2 SEC)) small
        GROUP BY TUMBLE(start, 6 SEC)""",
    "windows of sessions": """
        SELECT STREAM window_start, COUNT(*) AS n
        FROM (SELECT STREAM k, window_end, COUNT(*) AS n FROM a GROUP BY k, SESSION(time, 2 SEC)) runs
        GROUP BY TUMBLE(window_end, 5 SEC)""",
    "windows of growing windows, by their starts": """
        SELECT STREAM window_start, window_end, MAX(n) AS most, COUNT(*) AS windows
        FROM (SELECT STREAM k, window_start AS start, COUNT(*) AS n FROM a GROUP BY k, CUMULATE(time, 2 SEC, 6 SEC)) x
        GROUP BY TUMBLE(start, 12 SEC)""",
    "grouping sets of growing windows": """
        SELECT STREAM k, GROUPING(k) AS all_keys, window_start, COUNT(DISTINCT n) AS counts
        FROM (SELECT STREAM k, window_end, COUNT(*) AS n FROM a GROUP BY k, CUMULATE(time, 1 SEC, 3 SEC)) grown
        GROUP BY ROLLUP(k), HOP(window_end, 2 SEC, 4 SEC)""",
    "the first of each window": """
        SELECT STREAM k, window_end, COUNT(*) AS n, RANK() OVER (PARTITION BY window_end ORDER BY COUNT(*) DESC) AS r
        FROM a GROUP BY k, HOP(time, 2 SEC, 4 SEC)
        QUALIFY ROW_NUMBER() OVER (PARTITION BY window_end ORDER BY n DESC, MAX(v) NULLS LAST) <= 2""",
    "the best of each moment, by key": """
        SELECT STREAM id, k, time, v, DENSE_RANK() OVER (PARTITION BY k, time ORDER BY v DESC) AS r,
          ROW_NUMBER() OVER (PARTITION BY k, time ORDER BY v DESC) AS i
        FROM (SELECT STREAM id, k, time, v FROM a UNION ALL SELECT STREAM id, k, time, v FROM b) both""",
    "ranks by the start and by the end of growing windows": """
        SELECT STREAM k, window_start, window_end, n, RANK() OVER (PARTITION BY window_start ORDER BY n DESC) AS day,
          RANK() OVER (PARTITION BY window_end ORDER BY n DESC) AS moment,
          DENSE_RANK() OVER (PARTITION BY k, window_start ORDER BY n) AS own
        FROM (SELECT STREAM k, window_start, window_end, COUNT(*) AS n FROM a
              GROUP BY k, CUMULATE(time, 2 SEC, 6 SEC)) w""",
    "the first rows of assigned windows": """
        SELECT STREAM id, k, time, window_end, r
        FROM (SELECT STREAM *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC NULLS LAST) AS r
              FROM TUMBLE(a, time, 2 SEC) WHERE v <> 0) x
        WHERE r <= 2""",
    "windows of the first rows of growing windows": """
        SELECT STREAM window_start, COUNT(*) AS n, SUM(v) AS total
        FROM (SELECT STREAM v, time, RANK() OVER (PARTITION BY k, window_end ORDER BY v) AS r
              FROM CUMULATE(a, time, 1 SEC, 3 SEC)) x
        WHERE r = 1 GROUP BY TUMBLE(time, 4 SEC)""",
    "final places of windows that change": """
        SELECT STREAM k, n, window_start, r
        FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) AS r
              FROM (SELECT n, k FROM (SELECT k, COUNT(*) AS n FROM a GROUP BY k, HOP(time, 1 SEC, 2 SEC)) q) w) x
        WHERE r <= 2""",
    "windows of the first of each window": """
        SELECT STREAM window_start, SUM(n) AS total
        FROM (SELECT STREAM k, window_start AS start, COUNT(*) AS n FROM a GROUP BY k, TUMBLE(time, 1 SEC)
              QUALIFY ROW_NUMBER() OVER (PARTITION BY start ORDER BY n, k) = 1) least
        GROUP BY TUMBLE(start, 4 SEC)""",
    "OVER windows": """
        SELECT STREAM k, window_end, SUM(n) OVER (PARTITION BY k ORDER BY window_end RANGE 6 SEC PRECEDING) AS n
        FROM (SELECT STREAM k, window_start, window_end, COUNT(*) AS n FROM a
              GROUP BY k, HOP(time, 1 SEC, 3 SEC)) hops""",
    "OVER two partitions": """
        SELECT STREAM id, k, v, COUNT(*) OVER (PARTITION BY k ORDER BY time RANGE 3 SEC PRECEDING) AS n,
          SUM(v) OVER (PARTITION BY v ORDER BY time RANGE BETWEEN 1 SEC PRECEDING AND 1 SEC FOLLOWING) AS s,
          COUNT(*) OVER (PARTITION BY k ORDER BY time RANGE 1 SEC PRECEDING) AS m FROM a""",
    "windows of rows without duplicates": """
        SELECT STREAM window_start, k, COUNT(*) AS n, SUM(v) AS total
        FROM a DEDUPLICATE ON (k, v) WITHIN 2 SEC GROUP BY k, TUMBLE(time, 4 SEC)""",
    "pairs without duplicates": """
        SELECT STREAM k, w, time
        FROM (SELECT STREAM a.k AS k, a.time AS time, b.v AS w
              FROM a JOIN b ON a.k = b.k AND b.time BETWEEN a.time - 2 SEC AND a.time + 3 SEC) pairs
        DEDUPLICATE ON (k, w) WITHIN 3 SEC""",
    "different pairs": """
        SELECT STREAM DISTINCT a.k AS k, b.time AS time
        FROM a JOIN b ON a.k = b.k AND b.time BETWEEN a.time - 2 SEC AND a.time + 3 SEC""",
    "windows of different counts": """
        SELECT STREAM window_start, COUNT(*) AS n, SUM(n) AS total
        FROM (SELECT STREAM DISTINCT window_end, COUNT(*) AS n FROM a GROUP BY k, HOP(time, 1 SEC, 2 SEC)) counts
        GROUP BY TUMBLE(window_end, 4 SEC)""",
    "OVER rows and times": """
        SELECT STREAM id, k, v, SUM(v) OVER (PARTITION BY k ORDER BY time ROWS 2 PRECEDING) AS s,
          COUNT(*) OVER (PARTITION BY k ORDER BY time RANGE 3 SEC PRECEDING) AS n,
          LAG(id) OVER (PARTITION BY v ORDER BY time) AS before FROM a""",
    "windows of rows with the one before": """
        SELECT STREAM window_start, COUNT(before) AS n, SUM(v - before) AS total
        FROM (SELECT STREAM k, time, v, LAG(v) OVER (PARTITION BY k ORDER BY time) AS before FROM a) x
        GROUP BY TUMBLE(time, 4 SEC)""",
    "OVER rows of a join": """
        SELECT STREAM k, x, COUNT(y) OVER (PARTITION BY k ORDER BY time ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) AS n
        FROM (SELECT STREAM a.k AS k, a.time AS time, a.id AS x, b.v AS y
              FROM a LEFT JOIN b ON a.k = b.k AND b.time BETWEEN a.time - 2 SEC AND a.time) pairs""",
    "OVER a join": """
        SELECT STREAM k, x, COUNT(*) OVER (PARTITION BY k ORDER BY time RANGE 3 SEC PRECEDING) AS n
        FROM (SELECT STREAM a.k AS k, a.time AS time, b.id AS x
              FROM a JOIN b ON a.k = b.k AND b.time BETWEEN a.time - 2 SEC AND a.time) pairs""",
    "a join of OVER": """
        SELECT STREAM x.id AS id, x.total AS total, b.id AS other
        FROM (SELECT STREAM id, k, time, SUM(v) OVER (PARTITION BY k ORDER BY time RANGE 4 SEC PRECEDING) AS total
              FROM a) x
        LEFT JOIN b ON x.k = b.k AND b.time BETWEEN x.time - 1 SEC AND x.time + 1 SEC""",
    "a join of windows": """
        SELECT STREAM x.k AS k, x.window_start AS start, x.n AS n, y.n AS before
        FROM (SELECT STREAM k, window_start, COUNT(*) AS n FROM a GROUP BY k, TUMBLE(time, 2 SEC)) x
        FULL JOIN (SELECT STREAM k, window_start, COUNT(*) AS n FROM b GROUP BY k, TUMBLE(time, 2 SEC)) y
        ON x.k = y.k AND y.window_start = x.window_start - 2 SEC""",
    "a join of the rows of one window": """
        SELECT STREAM x.id AS a, y.id AS b, x.window_start AS start, y.window_end AS until
        FROM HOP(a, time, 1 SEC, 3 SEC) x LEFT JOIN HOP(b, time, 1 SEC, 3 SEC) y
        ON x.k = y.k AND x.window_start = y.window_start AND x.window_end = y.window_end""",
    "rows without a partner in their window": """
        SELECT STREAM x.id AS id, x.until AS until
        FROM (SELECT STREAM id, k, time, window_end AS until FROM TUMBLE(a, time, 2 SEC)) x
        LEFT ANTI JOIN TUMBLE(b, time, 2 SEC) y ON x.k = y.k AND x.until = y.window_end AND y.v > 0""",
    "a join of growing windows": """
        SELECT STREAM x.id AS a, y.id AS b, COALESCE(x.window_end, y.window_end) AS until
        FROM CUMULATE(a, time, 1 SEC, 2 SEC) x FULL JOIN CUMULATE(b, time, 1 SEC, 2 SEC) y
        ON x.k = y.k AND x.window_start = y.window_start AND x.window_end = y.window_end""",
    "a join of a join, each of re-keyed streams": """
        SELECT STREAM z.a AS a, z.b AS b, c.id AS c
        FROM (SELECT STREAM x.id AS a, x.k AS k, y.v AS b, x.time AS time
              FROM (SELECT STREAM id, k, v, time FROM a PARTITION BY v INTO 3 PARTITIONS) x
              JOIN (SELECT STREAM -v AS w, v, time FROM b PARTITION BY w) y
              ON x.v = y.w AND y.time BETWEEN x.time AND x.time + 3 SEC
              PARTITION BY k INTO 5 PARTITIONS) z
        LEFT JOIN c ON z.k = c.k AND z.b < c.v AND c.time BETWEEN z.time - 2 SEC AND z.time + 2 SEC""",
    "a union of windows and a join": """
        SELECT STREAM k, window_start AS time, COUNT(*) AS n FROM a GROUP BY k, TUMBLE(time, 3 SEC)
        UNION ALL
        SELECT STREAM a.k, a.time, b.v FROM a JOIN b ON a.k = b.k AND b.time BETWEEN a.time AND a.time + 2 SEC
        UNION ALL
        SELECT STREAM k, time, v FROM c""",
    "windows of a union": """
        SELECT STREAM window_start, COUNT(*) AS n, SUM(x) AS total FROM (
          SELECT STREAM window_start AS time, COUNT(*) AS x FROM a GROUP BY k, TUMBLE(time, 1 SEC)
          UNION ALL
          SELECT STREAM a.time, b.v FROM a JOIN b ON a.k = b.k AND b.time BETWEEN a.time AND a.time + 2 SEC) both
        GROUP BY TUMBLE(time, 4 SEC)""",
    "windows beside those before": f"""
        SELECT STREAM x.k AS k, x.window_start AS start, x.n AS n, y.n AS before, y.total AS total
        FROM {_COUNTS.format("a")} x LEFT JOIN {_COUNTS.format("a")} y
        ON x.k = y.k AND y.window_start = x.window_start - 6 SEC""",
    "windows beside those after": """
        SELECT STREAM x.k AS k, x.window_start AS start, x.n AS n, y.n AS later
        FROM (SELECT k, COUNT(*) AS n FROM a GROUP BY k, HOP(time, 1 SEC, 3 SEC) HAVING COUNT(*) > 1) x
        LEFT JOIN (SELECT k, COUNT(v) AS n FROM b GROUP BY k, HOP(time, 1 SEC, 3 SEC)) y
        ON x.k = y.k AND y.window_end = x.window_end + 2 SEC AND y.n < x.n""",
    "windows of three streams": f"""
        SELECT STREAM COALESCE(x.k, y.k) AS k, COALESCE(x.window_start, y.window_start) AS start, x.n AS a, y.n AS b,
          z.n AS c
        FROM {_COUNTS.format("a WHERE k IS NOT NULL")} x FULL JOIN {_COUNTS.format("b")} y ON x.k = y.k
        LEFT JOIN {_COUNTS.format("c")} z ON COALESCE(x.k, y.k) = z.k""",
    "windows of joined windows": f"""
        SELECT STREAM k, window_start, SUM(n * m) AS total, COUNT(*) AS pairs
        FROM (SELECT STREAM x.k AS k, x.window_end AS until, x.n AS n, y.n AS m
              FROM {_COUNTS.format("a")} x JOIN {_COUNTS.format("b")} y ON x.k = y.k) pairs
        GROUP BY k, TUMBLE(until, 4 SEC)""",
    "growing windows, of those counts in both": """
        SELECT STREAM y.k AS k, y.window_start AS start, y.window_end AS until, x.n AS a, y.n AS b
        FROM (SELECT k, COUNT(DISTINCT v) AS n FROM a GROUP BY k, CUMULATE(time, 2 SEC, 6 SEC)) x
        RIGHT JOIN (SELECT k, COUNT(*) AS n FROM b GROUP BY k, CUMULATE(time, 2 SEC, 6 SEC)) y
        ON x.k = y.k AND x.n <= y.n""",
    "sessions that begin and end together": """
        SELECT STREAM x.k AS k, x.window_end AS until, x.n AS a, y.n AS b
        FROM (SELECT k, COUNT(*) AS n FROM a GROUP BY k, SESSION(time, 1 SEC) EMIT FINAL) x
        LEFT JOIN (SELECT k, COUNT(*) AS n FROM b GROUP BY k, SESSION(time, 1 SEC) EMIT FINAL) y ON x.k = y.k""",
}
"""Streams."""
TABLES: Mapping[str, str] = {
    "changing windows beside those before": f"""
        SELECT x.k AS k, x.window_start AS window_start, x.n AS n, y.n AS before, y.total AS total
        FROM {_COUNTS.format("a")} x LEFT JOIN {_COUNTS.format("a")} y
        ON x.k = y.k AND y.window_start = x.window_start - 6 SEC AND y.n <> x.n""",
    "changing windows beside those after": f"""
        SELECT x.k AS k, x.n AS n, y.n AS later
        FROM {_COUNTS.format("a")} x LEFT JOIN {_COUNTS.format("b")} y
        ON x.k = y.k AND y.window_end = x.window_end + 4 SEC""",
    "changing windows of three streams": """
        SELECT COALESCE(x.k, y.k) AS k, x.n AS a, y.n AS b, z.n AS c
        FROM (SELECT k, COUNT(*) AS n FROM a WHERE k IS NOT NULL GROUP BY k, HOP(time, 2 SEC, 3 SEC)) x
        FULL JOIN (SELECT k, COUNT(*) AS n FROM b GROUP BY k, HOP(time, 2 SEC, 3 SEC) GRACE PERIOD 2 SEC) y ON x.k = y.k
        JOIN (SELECT k, COUNT(*) AS n FROM c GROUP BY k, HOP(time, 2 SEC, 3 SEC)) z ON COALESCE(x.k, y.k) = z.k""",
}
"""Windowed tables, whose rows change."""
_DECLARED = """CREATE STREAM {name} (id BIGINT, k STRING, v BIGINT, price DECIMAL(10, 2), time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL {delay} SECONDS)
WITH (connector = 'files', path = '{folder}/{name}', format = 'json', files_per_batch = 1);
"""


def compiled(chain: str, delays: Mapping[str, int], folder: str = ".") -> RunningQuery:
    """The query of a chain over streams in `folder` with the watermark delays given in seconds."""
    declared = "".join(_DECLARED.format(name=name, delay=delay, folder=folder) for name, delay in delays.items())
    made = f"STREAM result AS {CHAINS[chain]}" if chain in CHAINS else f"TABLE result AS {TABLES[chain]}"
    (query,) = penstock.compile(f"{declared} CREATE {made};").queries
    return query


delays = st.fixed_dictionaries({name: st.integers(0, streams.LONGEST_DELAY) for name in "abc"})


def histories(delays: Mapping[str, int]) -> st.SearchStrategy[History]:
    """Histories whose disorder stays within the delays."""
    return streams.histories(delays, max_rows=12, orderly=True)


def timed_histories(delays: dict[str, int]) -> st.SearchStrategy[tuple[dict[str, int], History]]:
    """The delays, and histories that fit them."""
    return histories(delays).map(lambda history: (delays, history))
