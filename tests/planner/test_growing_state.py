"""Warnings of groups by times, which grow forever, and the windows that say the same."""

from __future__ import annotations

import pytest

import penstock
from penstock.diagnostics import Diagnostic

DECLARED = """
CREATE STREAM s (id BIGINT KEY, product STRING, a INT, ts TIMESTAMP, d DATE, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '10' SECOND) WITH (connector = 'files', path = 'd', format = 'json');
CREATE STREAM c (id BIGINT KEY, ms BIGINT, time AS TIMESTAMP_MILLIS(ms), WATERMARK FOR time AS time)
WITH (connector = 'files', path = 'c', format = 'json');
CREATE TABLE t (id BIGINT PRIMARY KEY, k STRING, changed TIMESTAMP, WATERMARK FOR changed AS changed)
WITH (connector = 'files', path = 't', format = 'json');
"""
# A key, and the window that has the same groups.
GROWING = {
    "DATE_TRUNC('minute', time)": "INTERVAL '1' MINUTE",
    "DATE_TRUNC('HOUR', time)": "INTERVAL '1' HOUR",
    "FLOOR(time TO SECOND)": "INTERVAL '1' SECOND",
    "CEIL(time TO HOUR)": "INTERVAL '1' HOUR",
    "TIME_BUCKET(INTERVAL '5' MINUTE, time)": "INTERVAL '5' MINUTE",
    "DATE_FORMAT(time, 'yyyy-MM-dd')": "INTERVAL '1' DAY",
    "DATE_FORMAT(time, 'yyyy-MM-dd HH')": "INTERVAL '1' HOUR",
    "DATE_FORMAT(time, 'yyyyMMddHHmm')": "INTERVAL '1' MINUTE",
    "CAST(time AS DATE)": "INTERVAL '1' DAY",
    "DATE(time)": "INTERVAL '1' DAY",
    "TO_DATE(time)": "INTERVAL '1' DAY",
    "LAST_DAY(time)": "INTERVAL '1' DAY",
    "time": "INTERVAL '1' MINUTE",
    "s.time": "INTERVAL '1' MINUTE",
    "ROWTIME": "INTERVAL '1' MINUTE",
    "UNIX_TIMESTAMP(time) DIV 300": "INTERVAL '5' MINUTE",
    "UNIX_MILLIS(time) DIV 10000": "INTERVAL '10' SECOND",
    "SUBSTR(CAST(time AS STRING), 1, 16)": "INTERVAL '1' MINUTE",
    "CASE WHEN a > 1 THEN time END": "INTERVAL '1' MINUTE",
    "time - INTERVAL '1' DAY": "INTERVAL '1' MINUTE",
    "COALESCE(ts, time)": None,
    "ts": None,
}
BOUNDED = [
    *("product", "d", "HOUR(time)", "EXTRACT(HOUR FROM time)", "DATE_PART('minute', time)", "DAYOFWEEK(time)"),
    *("DATE_FORMAT(time, 'HH:mm')", "DATE_FORMAT(time, 'yyyy')", "YEAR(time)", "TRUNC(time, 'MM')"),
    *("time > TIMESTAMP '2020-01-01 00:00:00'", "UNIX_SECONDS(time) % 60", "PMOD(UNIX_SECONDS(time), 60)"),
    *("DATEDIFF(time, ts)", "ts - time > INTERVAL '1' DAY", "CASE WHEN time > ts THEN 'late' ELSE 'early' END"),
]


def find_growth(sql: str) -> list[Diagnostic]:
    return [each for each in penstock.compile(DECLARED + sql).diagnostics if each.code == "W050"]


@pytest.mark.parametrize("key", GROWING)
def test_groups_by_a_time_are_warned_of(key: str) -> None:
    statement = f"CREATE TABLE q AS SELECT product, {key} AS m, COUNT(*) AS n FROM s GROUP BY product, {key}"
    (warning,) = find_growth(f"{statement};")
    size = GROWING[key]
    if size is None:
        assert warning.fix is None
        return
    assert size in (warning.hint or "")
    assert warning.fix is not None
    assert warning.fix.count("window_start AS m") == 1
    fixed = penstock.compile(DECLARED + warning.fix)
    assert [each.name for each in fixed.queries[0].root.schema][:3] == ["product", "m", "n"]
    assert not [each for each in fixed.diagnostics if each.code == "W050"]


@pytest.mark.parametrize("key", BOUNDED)
def test_keys_with_few_values_are_not(key: str) -> None:
    assert find_growth(f"CREATE TABLE q AS SELECT a, {key} AS m, COUNT(*) AS n FROM s GROUP BY a, {key};") == []


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT DISTINCT product, DATE_TRUNC('minute', time) AS m FROM s;",
        "SELECT product, COUNT(DISTINCT time) AS n FROM s GROUP BY product;",
        "SELECT product, COUNT(DISTINCT CAST(time AS DATE)) AS n FROM s GROUP BY product;",
        "SELECT product, COLLECT_SET(DATE_TRUNC('hour', time)) AS n FROM s GROUP BY product;",
        "SELECT k, CAST(changed AS DATE) AS d, COUNT(*) AS n FROM t GROUP BY k, CAST(changed AS DATE);",
        "SELECT began, SUM(n) AS n FROM (SELECT STREAM product, window_start AS began, COUNT(*) AS n FROM s"
        " GROUP BY product, TUMBLE(time, 1 MINUTE)) q GROUP BY began;",
        "SELECT DATE_TRUNC('hour', time) AS h, COUNT(*) AS n FROM s GROUP BY 1;",
        "SELECT DATE_TRUNC('hour', time) AS h, COUNT(*) AS n FROM s GROUP BY h;",
        "SELECT product, DATE_TRUNC('hour', time) AS h, COUNT(*) AS n FROM s GROUP BY ALL;",
        "SELECT product, CAST(time AS DATE) AS d, COUNT(*) AS n FROM s GROUP BY ROLLUP(product, CAST(time AS DATE));",
        "CREATE VIEW v AS SELECT STREAM product, DATE_TRUNC('hour', time) AS h FROM s;"
        "SELECT product, h, COUNT(*) AS n FROM v GROUP BY product, h;",
        "SELECT b, COUNT(*) AS n FROM (SELECT STREAM product, time AS b FROM s WHERE a > 1"
        " UNION ALL SELECT STREAM product, time AS b FROM s) q GROUP BY b;",
    ],
)
def test_all_that_keeps_times_is_warned_of(statement: str) -> None:
    (warning,) = find_growth(statement)
    assert warning.hint
    if warning.fix is not None:
        assert find_growth(warning.fix) == []


def test_a_computed_event_time() -> None:
    (warning,) = find_growth("SELECT ms DIV 60000 AS m, COUNT(*) AS n FROM c GROUP BY ms DIV 60000;")
    assert warning.fix == "SELECT window_start AS m, COUNT(*) AS n FROM c GROUP BY TUMBLE(time, INTERVAL '1' MINUTE)"


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT product, COUNT(*) AS n FROM s GROUP BY product, TUMBLE(time, 1 MINUTE);",
        "SELECT product, MAX(time) AS n, COUNT(DISTINCT a) AS m FROM s GROUP BY product;",
        "SELECT product, COUNT(DISTINCT time) AS n FROM s GROUP BY product, TUMBLE(time, 1 MINUTE);",
        "SELECT STREAM DISTINCT product, time FROM s;",
        "SELECT k, COUNT(*) AS n FROM t GROUP BY k;",
    ],
)
def test_what_ends_is_not(statement: str) -> None:
    assert find_growth(statement) == []
