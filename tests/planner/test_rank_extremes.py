"""Joins of rows with the greatest or least value of their window: which become rankings, with the same rows."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import penstock
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import History
from penstock.evaluator.typed_values import Row
from penstock.planner.passes import pipeline
from penstock.planner.passes.pipeline import REWRITES
from penstock.planner.passes.rank_extremes import rank_extremes
from penstock.planner.plan import IntervalJoin, Node, Ranked
from penstock.planner.plan.walk import list_nodes
from penstock.runtime import RuntimeSession
from tests.model.arrivals import write_json_lines
from tests.model.rows import difference

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """
CREATE STREAM bids (auction BIGINT, price BIGINT, grade STRING, share DOUBLE, tags ARRAY<INT>,
  time TIMESTAMP,
  WATERMARK FOR time AS time - 4 SECONDS) WITH (connector = 'files', path = 'bids', format = 'json');
CREATE STREAM others (price BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 4 SECONDS)
WITH (connector = 'files', path = 'others', format = 'json');
CREATE VIEW doubled AS SELECT STREAM auction, price * 2 AS price, time FROM bids;
CREATE VIEW paired AS SELECT STREAM b.price AS price, b.time AS time, o.time AS other FROM bids b JOIN others o
  ON b.price = o.price AND o.time BETWEEN b.time AND b.time + INTERVAL '5' SECOND;
CREATE STREAM result WITH (connector = 'memory') AS
"""
TUMBLE = "GROUP BY TUMBLE(time, 10 SECONDS)"
HIGHEST = f"(SELECT STREAM MAX(price) AS highest, window_start, window_end FROM bids {TUMBLE}) w"
INSIDE = "b.time >= w.window_start AND b.time < w.window_start + INTERVAL '10' SECOND"
RANKED = (
    f"SELECT STREAM b.auction, b.price, b.time FROM bids b JOIN {HIGHEST} ON b.price = w.highest AND {INSIDE}",
    f"SELECT STREAM b.*, w.* FROM {HIGHEST} JOIN bids b ON w.highest = b.price AND {INSIDE}",
    f"""SELECT STREAM b.auction, w.window_end FROM bids b JOIN {HIGHEST} ON b.price = w.highest
    AND b.time < w.window_end AND b.time >= w.window_end - INTERVAL '10' SECOND""",
    f"""SELECT STREAM b.auction, w.highest FROM bids b JOIN {HIGHEST} ON b.price = w.highest AND {INSIDE}
    AND b.auction > w.highest""",
    f"""SELECT STREAM b.auction, b.price, w.window_start FROM bids b
    JOIN (SELECT STREAM auction, MIN(price) AS lowest, window_start FROM bids GROUP BY auction,
    TUMBLE(time, 10 SECONDS)) w ON b.auction = w.auction AND b.price = w.lowest AND {INSIDE}""",
    f"""SELECT STREAM b.auction, b.grade FROM bids b JOIN (SELECT STREAM MAX(grade) AS best, window_start FROM bids
    {TUMBLE}) w ON b.grade = w.best AND {INSIDE}""",
    f"""SELECT STREAM b.auction, b.price FROM doubled b JOIN (SELECT STREAM MAX(price) AS highest, window_start
    FROM doubled {TUMBLE}) w ON b.price = w.highest AND {INSIDE}""",
    """SELECT STREAM b.auction, b.price FROM (SELECT STREAM MAX(price) AS highest, auction AS of, window_start FROM bids
    GROUP BY auction, TUMBLE(time, 11 MINUTES)) w JOIN bids b ON w.highest = b.price AND w.of = b.auction
    AND b.time >= w.window_start AND b.time < w.window_start + INTERVAL '11' MINUTE""",
    f"SELECT STREAM b.auction FROM bids b LEFT SEMI JOIN {HIGHEST} ON b.price = w.highest AND {INSIDE}",
    f"""SELECT STREAM b.auction FROM bids b LEFT SEMI JOIN {HIGHEST} ON b.price = w.highest AND {INSIDE}
    AND b.auction >= w.highest""",
)
JOINED = (
    f"""SELECT STREAM b.auction FROM bids b JOIN {HIGHEST} ON b.price = w.highest AND b.auction = w.highest
    AND {INSIDE}""",
    f"""SELECT STREAM b.auction FROM bids b JOIN {HIGHEST} ON b.auction = w.highest AND b.price = w.highest
    AND {INSIDE}""",
    f"""SELECT STREAM b.auction FROM bids b JOIN {HIGHEST} ON b.price = w.highest AND b.auction * 2 = w.highest
    AND {INSIDE}""",
    f"""SELECT STREAM b.auction FROM bids b JOIN (SELECT STREAM MAX(price * 2) AS highest, window_start FROM bids
    {TUMBLE}) w ON b.price * 3 = w.highest AND {INSIDE}""",
    f"""SELECT STREAM b.auction FROM bids b JOIN (SELECT STREAM MAX(tags) AS most, window_start FROM bids
    {TUMBLE}) w ON b.tags = w.most AND {INSIDE}""",
    f"""SELECT STREAM b.price, b.other FROM paired b JOIN (SELECT STREAM MAX(price) AS highest, window_start FROM paired
    {TUMBLE}) w ON b.price = w.highest AND {INSIDE}""",
    """SELECT STREAM b.auction FROM bids b JOIN (SELECT STREAM MAX(price) AS highest, window_start FROM bids
    GROUP BY TUMBLE(time, 11 MINUTES)) w ON b.price = w.highest
    AND b.time >= w.window_start AND b.time < w.window_start + INTERVAL '11' MINUTE""",
    f"SELECT STREAM b.auction FROM bids b LEFT JOIN {HIGHEST} ON b.price = w.highest AND {INSIDE}",
    f"SELECT STREAM b.price FROM others b JOIN {HIGHEST} ON b.price = w.highest AND {INSIDE}",
    f"SELECT STREAM b.auction FROM bids b JOIN {HIGHEST} ON b.auction = w.highest AND {INSIDE}",
    f"""SELECT STREAM b.auction FROM bids b JOIN {HIGHEST} ON b.price = w.highest
    AND b.time BETWEEN w.window_start AND w.window_start + INTERVAL '10' SECOND""",
    f"""SELECT STREAM b.auction FROM bids b JOIN {HIGHEST} ON b.price = w.highest
    AND b.time >= w.window_end AND b.time < w.window_end + INTERVAL '10' SECOND""",
    f"""SELECT STREAM b.auction FROM bids b JOIN (SELECT STREAM auction, MAX(price) AS highest, window_start FROM bids
    GROUP BY auction, TUMBLE(time, 10 SECONDS)) w ON b.price = w.highest AND {INSIDE}""",
    f"""SELECT STREAM b.auction FROM bids b JOIN (SELECT STREAM MAX(price) FILTER (WHERE auction > 1) AS highest,
    window_start FROM bids {TUMBLE}) w ON b.price = w.highest AND {INSIDE}""",
    f"""SELECT STREAM b.auction FROM bids b JOIN (SELECT STREAM MAX(price) AS highest, window_start FROM bids
    WHERE auction > 1 {TUMBLE}) w ON b.price = w.highest AND {INSIDE}""",
    f"""SELECT STREAM b.auction FROM bids b JOIN (SELECT STREAM MAX(price) AS highest, window_start FROM bids {TUMBLE}
    HAVING COUNT(*) > 1) w ON b.price = w.highest AND {INSIDE}""",
    f"""SELECT STREAM b.auction FROM bids b JOIN (SELECT STREAM SUM(price) AS highest, window_start FROM bids
    {TUMBLE}) w ON b.price = w.highest AND {INSIDE}""",
    f"""SELECT STREAM b.auction FROM bids b JOIN (SELECT STREAM MAX(share) AS highest, window_start FROM bids
    {TUMBLE}) w ON b.share = w.highest AND {INSIDE}""",
    f"""SELECT STREAM b.auction FROM bids b JOIN (SELECT STREAM MAX(price) AS highest, window_start FROM bids
    GROUP BY HOP(time, 5 SECONDS, 10 SECONDS)) w ON b.price = w.highest AND {INSIDE}""",
)


def plan(select: str, monkeypatch: pytest.MonkeyPatch | None = None) -> Node:
    """The plan of a script with the SELECT; with `monkeypatch` as it was written."""
    if monkeypatch is not None:
        monkeypatch.setattr(pipeline, "REWRITES", tuple(each for each in REWRITES if each is not rank_extremes))
    return penstock.compile(f"{SCRIPT}{select};").queries[-1].root


def operators(root: Node) -> set[type[Node]]:
    return {type(each) for each in list_nodes(root)} & {IntervalJoin, Ranked}


@st.composite
def bids(draw: st.DrawFn) -> list[Row]:
    few = st.none() | st.integers(1, 3)
    seconds = draw(st.lists(st.integers(0, 24), max_size=14))
    return [
        {
            "auction": draw(few),
            "price": draw(few),
            "grade": draw(st.none() | st.sampled_from(["", "a", "B", "é"])),
            "share": None,
            "tags": None,
            "time": datetime(2026, 1, 1) + timedelta(seconds=each),
        }
        for each in seconds
    ]


@pytest.mark.parametrize("select", RANKED)
def test_rows_with_the_extreme_of_their_window_are_ranked(select: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        written = plan(select, patch)
    ranked = plan(select)
    assert operators(written) == {IntervalJoin}
    assert operators(ranked) == {Ranked}
    assert (ranked.schema, ranked.shape) == (written.schema, written.shape)
    met = []

    @given(bids())
    def check(rows: list[Row]) -> None:
        expected, given_rows = (sorted(map(repr, evaluate(each, {"bids": rows}))) for each in (written, ranked))
        assert given_rows == expected
        met.extend(expected)

    check()
    assert met  # some of the histories have results


@pytest.mark.parametrize("select", JOINED)
def test_others_stay_joins(select: str) -> None:
    assert operators(plan(select)) == {IntervalJoin}


@pytest.mark.spark
def test_spark_ranks_them(spark: SparkSession, tmp_path: Path) -> None:
    chosen = random.Random(7)
    start, few = datetime(2026, 1, 1), [None, 1, 2, 3]
    rows: list[Row] = [
        {
            "auction": chosen.choice([*few, 4]),
            "price": chosen.choice(few),
            "grade": chosen.choice([None, "", "a", "B", "é"]),
            "share": None,
            "tags": None,
            "time": start + timedelta(seconds=each // 2 + chosen.choice([0, 2])),
        }
        for each in range(80)
    ]
    folder = write_json_lines(History(({"bids": rows[:40]}, {"bids": rows[40:]})), tmp_path)["bids"]
    declared = SCRIPT[: SCRIPT.index("CREATE STREAM result")].replace("'bids',", f"'{folder}', files_per_batch = 1,")
    streams = (f"CREATE STREAM result{i} WITH (connector = 'memory') AS {select};" for i, select in enumerate(RANKED))
    compiled = penstock.compile(declared + "\n".join(streams))
    with RuntimeSession(spark, checkpoint=str(tmp_path / "checkpoint")) as session:
        session.run_once(compiled.program, drain=True)
        for query in compiled.queries:
            expected = evaluate(query.root, {"bids": rows})
            assert expected
            assert difference(session.rows(query.name), expected) == ""
