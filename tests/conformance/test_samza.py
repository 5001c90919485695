"""Partition counts of Samza's own planner tests: over their graphs, and over SQL that says the same."""

from __future__ import annotations

import pytest

from penstock.compilation import compile
from penstock.diagnostics import CompileError
from penstock.planner.partitions.counts import Defaults, infer
from penstock.planner.partitions.graph import Graph, Role, Stream, reach_from
from tests.conformance.differences import SAMZA_COUNTS, SAMZA_GRAPH_ONLY, SAMZA_NOT_OURS, SAMZA_OF_BROKERS
from tests.conformance.samza_partitions import CASES, DEFAULT, Case, compare, compare_planned, graph_of, sql_of

PLANS = [pytest.param(case, id=case["id"]) for case in CASES if case["kind"] == "plan"]
# A default of 0 is refused where it is set, before there is a graph.
GRAPH_PLANS = [each for each in PLANS if each.id != "d-config-default-zero"]
SQL_PLANS = [each for each in PLANS if each.id not in SAMZA_GRAPH_ONLY]


@pytest.mark.parametrize("case", GRAPH_PLANS)
def test_graph(case: Case) -> None:
    made = graph_of(case)
    compare(
        case,
        infer(made, Defaults(case["config"].get(DEFAULT), 4)),
        {each: each for each in (*made.streams, *made.joins)},
    )


@pytest.mark.parametrize("case", SQL_PLANS)
def test_sql(case: Case) -> None:
    lines = sql_of(case)
    if case["expect"]["rejected"]:
        with pytest.raises(CompileError) as refusal:
            compile("\n".join(lines))
        wanted = {"C003"} if case["config"].get(DEFAULT) == 0 else {"P001"}
        assert {each.code for each in refusal.value.diagnostics} == wanted
        return
    compilation = compile("\n".join(lines))
    found = compare_planned(case, lines, compilation)
    for name, join in found.script.joins.items():
        assert (join.partitions or compilation.settings.state_partitions) == found.counts.joins[name].partitions


@pytest.mark.parametrize("case", [each for each in CASES if each["id"].startswith("ism-")], ids=lambda case: case["id"])
def test_counts_without_joins(case: Case) -> None:
    given = case["given"]
    streams = {f"in{i}": Stream(f"in{i}", Role.OUTSIDE, count) for i, count in enumerate(given["inputs"])}
    streams |= {f"out{i}": Stream(f"out{i}", Role.OUTPUT, count) for i, count in enumerate(given["outputs"])}
    counts = infer(
        Graph({**streams, "p": Stream("p", Role.REKEYED)}, {}, {"in0": ["p"]}), Defaults(given.get("config"), 4)
    )
    expected = SAMZA_COUNTS.get(case["id"], ({"p": case["expect"]["intermediate"]}, ""))[0]
    assert counts.of["p"].partitions == expected["p"]


def test_traversals_of_loops_end() -> None:
    loop = {1: [2, 3, 4], 2: [], 3: [6], 4: [1, 5], 5: [5, 7], 6: [], 7: [4]}
    assert len(reach_from([1], lambda vertex: loop[vertex])) == 7
    assert reach_from([1, 2], lambda vertex: [vertex]) == [1, 2]


def test_every_case_is_run_or_has_a_reason() -> None:
    run = {each.id for each in PLANS} | {each["id"] for each in CASES if each["id"].startswith("ism-")}
    run |= {"topological-sort-and-cycles", *SAMZA_OF_BROKERS}
    assert run | set(SAMZA_NOT_OURS) == {case["id"] for case in CASES}
    assert run & set(SAMZA_NOT_OURS) == set()
    assert set(SAMZA_GRAPH_ONLY) == {
        each["id"]
        for each in CASES
        if each["kind"] == "plan" and any(table["kind"] == "remote" for table in each["tables"].values())
    }
