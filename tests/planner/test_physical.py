"""How operators with state run: each way of running is chosen by a script, and keeps its state where it says."""

from __future__ import annotations

import re
from collections import Counter
from typing import get_args

import pytest

import penstock
from penstock.codegen.cut_queries import cut_at_intermediates, is_intermediate
from penstock.codegen.sql.own_columns import find_own_columns
from penstock.codegen.sql.row_forms import COLUMNS
from penstock.explain import explain
from penstock.parser.ast import Stage
from penstock.planner.explain.physical_text import find_forms
from penstock.planner.physical.choose import Physical, choose
from penstock.planner.physical.fuse import find_fused
from penstock.planner.physical.state_place import state_store
from penstock.planner.plan import DEFAULTS, RunningQuery, Settings, Stateful, StateStore, WTable
from penstock.planner.plan.walk import list_nodes, walk
from tests.house.files import ROOT

ARCHITECTURE = ROOT / "docs" / "architecture.md"
SCRIPT = """CREATE STREAM a (id BIGINT, v BIGINT, t TIMESTAMP, WATERMARK FOR t AS t - 10 SECONDS)
WITH (connector = 'files', path = 'a', format = 'json');
CREATE STREAM b (id BIGINT, w BIGINT, t TIMESTAMP, WATERMARK FOR t AS t)
WITH (connector = 'files', path = 'b', format = 'json');
CREATE TABLE p (id BIGINT PRIMARY KEY, q BIGINT) WITH (connector = 'files', path = 'p', format = 'json');
CREATE TABLE r (id BIGINT PRIMARY KEY, s BIGINT, changed TIMESTAMP, WATERMARK FOR changed AS changed)
WITH (connector = 'files', path = 'r', format = 'json', retention = INTERVAL '1' DAY);
"""
MINUTE = "TUMBLE(t, 1 MINUTE)"
SESSION = "SESSION(t, 1 MINUTE)"
JOINED = (
    "SELECT STREAM v, w FROM a JOIN b ON a.id = b.id "
    "AND b.t BETWEEN a.t + INTERVAL '{}' MINUTE AND a.t + INTERVAL '{}' MINUTE"
)
RANKED = "SELECT STREAM id, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY v) AS n FROM {}"
WAYS: dict[str, dict[str, int | None]] = {
    f"SELECT id, COUNT(*) AS n FROM a GROUP BY id, {MINUTE}": {"FixedWindows": 70_000},
    f"SELECT STREAM id, COUNT(*) AS n FROM a GROUP BY id, {SESSION}": {"SparkSessions": 70_000},
    f"SELECT id, COUNT(*) AS n FROM a GROUP BY id, {SESSION} EMIT CHANGES": {"SessionBuckets": 70_000},
    "SELECT STREAM COUNT(*) AS n FROM a GROUP BY HOP(t, 1 SECOND, 10 SECONDS)": {"PartialWindows": 20_000},
    "SELECT id, COUNT(*) AS n FROM a GROUP BY id": {"StreamGroups": None},
    "SELECT COUNT(*) AS n FROM a": {"StreamGroups": 0},
    "SELECT q, COUNT(*) AS n FROM p GROUP BY q": {"LatestRows": None, "TableSums": None},
    "SELECT COUNT(DISTINCT q) AS n FROM p": {"LatestRows": None, "TableValues": None},
    "SELECT STREAM DISTINCT id, t FROM a": {"DistinctRows": 10_000},
    JOINED.format(1440, 1500): {"PairJoin": 90_010_000},
    JOINED.format(0, 5): {"PaneJoin": 610_000},
    "SELECT STREAM id, SUM(v) OVER (PARTITION BY id ORDER BY t RANGE INTERVAL '5' MINUTE PRECEDING) AS n FROM a": {
        "TimeFrames": 610_000
    },
    "SELECT STREAM id, LAG(v) OVER (PARTITION BY id ORDER BY t) AS n FROM a": {"RowFrames": None},
    "SELECT STREAM LAG(v) OVER (ORDER BY t) AS n FROM a": {"RowFrames": 10_000},
    RANKED.format("t", "a"): {"InstantRanks": 10_000},
    RANKED.format("window_start, window_end", "TABLE(TUMBLE(TABLE a, DESCRIPTOR(t), INTERVAL '1' MINUTE))"): {
        "WindowRanks": 70_000
    },
    "SELECT p.id, p.q, r.s FROM p JOIN r ON p.id = r.id": {"KeyJoin": None},
    f"""SELECT x.id, x.n, y.m FROM (SELECT id, COUNT(*) AS n FROM a GROUP BY id, {MINUTE}) x
JOIN (SELECT id, COUNT(*) AS m FROM b GROUP BY id, {MINUTE}) y
ON x.id = y.id AND x.window_start = y.window_start AND x.window_end = y.window_end""": {
        "FixedWindows": 60_000,
        "WindowJoin": 70_000,
    },
    "SELECT p.id, r.s FROM p JOIN r ON p.q = r.id": {"LatestRows": None, "ReferenceJoin": None},
    "SELECT STREAM a.id, p.q FROM a JOIN p ON a.v = p.id": {"CurrentLookup": None},
    "SELECT STREAM a.id, r.s FROM a JOIN r FOR SYSTEM_TIME AS OF a.t ON a.v = r.id": {"AsOfLookup": None},
    "SELECT id, RANK() OVER (ORDER BY q) AS n FROM p": {"LatestRows": None, "KeyedRanks": None},
    "SELECT id, RANK() OVER (PARTITION BY q ORDER BY id) AS n FROM p": {"LatestRows": None, "MovingRanks": None},
}


def list_ways(select: str) -> dict[str, int | None]:
    """The physical operators of a query, and how long each keeps rows."""
    (query,) = penstock.compile(f"SET partial_aggregates = ON; {SCRIPT}{select};").queries
    chosen = (choose(node) for node in walk(query.root) if isinstance(node, Stateful))
    return {type(each).__name__: each.horizon for each in chosen}


@pytest.mark.parametrize("select", WAYS)
def test_the_way_of_an_operator(select: str) -> None:
    assert list_ways(select) == WAYS[select]


def test_the_table_of_the_architecture_has_every_way() -> None:
    rows = re.findall(r"^\|(?: `(\w+)`)? \|[^|\n]*\| `(\w+)` \|$", ARCHITECTURE.read_text("utf-8"), re.MULTILINE)
    assert sorted(node for node, _ in rows if node) == sorted(each.__name__ for each in get_args(Stateful))
    assert sorted(way for _, way in rows) == sorted(each.__name__ for each in get_args(Physical))


def test_every_way_is_chosen() -> None:
    assert {name for each in WAYS.values() for name in each} == {each.__name__ for each in get_args(Physical)}


@pytest.mark.parametrize(
    ("seconds", "store"), [(7_190, StateStore.MEMORY), (7_191, StateStore.ROCKSDB)], ids=["two hours", "longer"]
)
def test_the_state_of_two_hours_is_on_the_heap(seconds: int, store: StateStore) -> None:
    (query,) = penstock.compile(f"{SCRIPT}SELECT COUNT(*) AS n FROM a GROUP BY TUMBLE(t, {seconds} SECONDS);").queries
    (node,) = (each for each in walk(query.root) if isinstance(each, Stateful))
    assert state_store(node, DEFAULTS) is store
    for told in StateStore:
        assert state_store(node, Settings(state_store=told)) is told


@pytest.mark.parametrize(
    "select", [*WAYS, "SELECT n, COUNT(*) AS m FROM (SELECT q, COUNT(*) AS n FROM p GROUP BY q) GROUP BY n"]
)
def test_what_is_shown_is_what_runs(select: str) -> None:
    """The text is made from the plan. The Spark queries of the Program are of another plan, which was cut."""
    compilation = penstock.compile(f"SET partial_aggregates = ON; {SCRIPT}{select};")
    shown = explain(compilation, Stage.PHYSICAL)
    (query,) = compilation.queries
    parts = cut_at_intermediates(query, "query", ())
    programs = {each.name: each for each in compilation.program.queries}
    forms, told = Counter[tuple[str, ...]](), Counter[str]()
    for part in parts:
        nodes, tracked = list_nodes(part.root), programs[part.name].result.endswith(("_sent", "_changes"))
        own = find_own_columns(nodes, tracked=tracked, numbered=is_numbered(part), by_arrival=False)
        operators = [node for node in nodes if isinstance(node, Stateful)]
        forms.update(own[node] for node in operators)
        told.update({part.name: len(operators)})
        for node in operators:
            assert f"in {programs[part.name].partitions} partitions" in shown
            assert f"runs as {type(choose(node)).__name__}, because {choose(node).REASON}" in shown
    assert forms == Counter(COLUMNS[each] for each in find_forms(query, find_fused(query.root)).values())
    assert told == Counter(re.findall(r"Spark query: (\w+)", shown))


def is_numbered(part: RunningQuery) -> bool:
    return is_intermediate(part.sink) and isinstance(part.root.shape, WTable)
