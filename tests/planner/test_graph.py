"""Plans as graphs: all operators, what each reads, and the bounds of those with state."""

from __future__ import annotations

import json

from penstock.compilation import compile
from penstock.planner import plan_graph, state_text

SCRIPT = """
CREATE STREAM a (k INT, t TIMESTAMP, WATERMARK FOR t AS t - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = 'a', format = 'json');
CREATE STREAM b (k INT, t TIMESTAMP, WATERMARK FOR t AS t - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = 'b', format = 'json');
CREATE STREAM pairs AS SELECT STREAM a.k AS k FROM a JOIN b WITHIN 5 MINUTES ON a.k = b.k;
CREATE TABLE counts AS SELECT k, COUNT(*) AS n FROM a GROUP BY k;
"""


def test_a_graph_has_the_operators_of_all_queries() -> None:
    compilation = compile(SCRIPT)
    graph = plan_graph(compilation.queries, compilation.settings)
    assert json.loads(json.dumps(graph)) == graph
    nodes = {each["id"]: each for each in graph["nodes"]}
    assert len(nodes) == len(graph["nodes"])
    assert [each["label"] for each in graph["nodes"]][-3:] == ["Scan", "GroupAggregate", "Sink"]
    assert {end for edge in graph["edges"] for end in edge} == set(nodes)
    assert ["counts.r1", "counts"] in graph["edges"]
    joined = next(each for each in graph["nodes"] if each["label"] == "IntervalJoin")
    assert sorted(nodes[below]["label"] for below, above in graph["edges"] if above == joined["id"]) == [
        *("Project", "Project"),
    ]
    assert nodes["counts"] == {"id": "counts", "label": "Sink", "detail": "changes by k of r1 -> memory", "bound": None}


def test_bounds_are_those_of_explain_state() -> None:
    compilation = compile(SCRIPT)
    text = state_text(compilation.queries, compilation.settings)
    bounds = [each["bound"] for each in plan_graph(compilation.queries, compilation.settings)["nodes"] if each["bound"]]
    assert len(bounds) == 2
    assert all(part in text for bound in bounds for part in bound.split("; "))
