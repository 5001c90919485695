"""Which windows SET partial_aggregates merges, and which stay with Spark."""

from __future__ import annotations

import pytest

import penstock
from penstock.planner.plan import WindowAggregate
from penstock.planner.plan.walk import walk

SCRIPT = """SET partial_aggregates = {value};
CREATE STREAM orders (id BIGINT, product STRING, share DOUBLE, small DECIMAL(27, 24), fine DECIMAL(27, 25),
  wide DECIMAL(28, 2), paid BOOLEAN, time TIMESTAMP, WATERMARK FOR time AS time - 10 SECONDS)
WITH (connector = 'files', path = 'orders', format = 'json');
CREATE STREAM result WITH (connector = 'memory') AS
"""
HOP = "HOP(time, 10 SECONDS, 1 MINUTE)"
MERGED = (
    f"SELECT STREAM COUNT(*) AS n FROM orders GROUP BY {HOP}",
    f"SELECT STREAM id % 2 AS half, AVG(share) AS a, MAX(product) AS m FROM orders GROUP BY id % 2, {HOP}",
    f"SELECT STREAM AVG(small) AS a, SUM(wide) AS s FROM orders GROUP BY {HOP} GRACE PERIOD 5 SECONDS",
    f"SELECT STREAM product, SUM(id) FILTER (WHERE paid) AS n FROM orders GROUP BY ROLLUP(product), {HOP}",
    "SELECT STREAM COUNT_IF(paid) AS n FROM orders GROUP BY HOP(time, 50 SECONDS, 10 MINUTES)",
)
LEFT_TO_SPARK = (
    "SELECT STREAM COUNT(*) AS n FROM orders GROUP BY TUMBLE(time, 1 MINUTE)",
    "SELECT STREAM COUNT(*) AS n FROM orders GROUP BY HOP(time, 1 MINUTE, 1 MINUTE)",
    "SELECT STREAM COUNT(*) AS n FROM orders GROUP BY HOP(time, 1 SECOND, 13 SECONDS)",
    "SELECT STREAM COUNT(*) AS n FROM orders GROUP BY HOP(time, 1 MINUTE, 11 MINUTES)",
    f"SELECT STREAM COUNT(DISTINCT product) AS n FROM orders GROUP BY {HOP}",
    f"SELECT STREAM MAX(paid) AS m FROM orders GROUP BY {HOP}",
    f"SELECT STREAM MAX_BY(id, time) AS m FROM orders GROUP BY {HOP}",
    f"SELECT STREAM SUM(time - TIMESTAMP '2026-01-01 00:00:00') AS s FROM orders GROUP BY {HOP}",
    f"SELECT STREAM AVG(fine) AS a FROM orders GROUP BY {HOP}",
    f"SELECT STREAM AVG(wide) AS a FROM orders GROUP BY {HOP}",
    f"SELECT STREAM share, COUNT(*) AS n FROM orders GROUP BY share, {HOP}",
)


def is_merged(select: str, value: str = "ON") -> bool:
    (query,) = penstock.compile(f"{SCRIPT.format(value=value)}{select};").queries
    (node,) = (each for each in walk(query.root) if isinstance(each, WindowAggregate))
    return node.merges_partials


@pytest.mark.parametrize("select", MERGED)
def test_short_windows_are_merged(select: str) -> None:
    assert is_merged(select)
    assert not is_merged(select, "OFF")


@pytest.mark.parametrize("select", LEFT_TO_SPARK)
def test_others_are_not(select: str) -> None:
    assert not is_merged(select)


@pytest.mark.parametrize("select", [*MERGED, *LEFT_TO_SPARK])
def test_a_run_of_large_batches_is_as_with_the_setting(select: str) -> None:
    setting, _, script = SCRIPT.partition("\n")
    heads = ("", setting.format(value="ON"), setting.format(value="OFF"))
    without, on, off = (penstock.compile(f"{head}{script}{select};") for head in heads)
    assert without.for_large_batches().program == on.program == on.for_large_batches().program
    assert without.program == off.program == off.for_large_batches().program
