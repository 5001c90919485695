"""What an entry of the catalog of functions promises is kept, and no list of names elsewhere says it again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlglot import exp

import penstock
from penstock.codegen.program import BucketView, PaneView
from penstock.diagnostics import Source
from penstock.parser import ast as syntax
from penstock.parser import parse
from penstock.planner.functions import FUNCTIONS, Function
from penstock.planner.functions.facts import Framing
from penstock.planner.functions.signature import LambdaOf, signature
from tests.house.files import ROOT, list_files

COLUMNS = "k BIGINT {key}, n INT, d DECIMAL(3,2), x {x}, s STRING, b BOOLEAN, time TIMESTAMP"
FILES = "WITH (connector = 'files', path = 'p', format = 'json');"
STREAM = f"CREATE STREAM t ({COLUMNS.format(key='KEY', x='DOUBLE')}, WATERMARK FOR time AS time) {FILES}"
TABLE = f"CREATE TABLE t ({COLUMNS.format(key='PRIMARY KEY', x='DECIMAL(3,2)')}) {FILES}"
FRAMES = ("RANGE BETWEEN 1 MIN PRECEDING AND 1 MIN FOLLOWING", "ROWS 2 PRECEDING")
# COUNT(*) is syntax, and ANY a word of signatures.
ALLOWED = {
    ("planner/scalars/aggregate_calls.py", "COUNT"),
    ("planner/explain/plan.py", "COUNT"),
    ("planner/scalars/calls.py", "ANY"),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_functions_with_a_framing_are_lowered(frame: str) -> None:
    framed = [each for each in FUNCTIONS if each.framing is not None]
    # A frame of ROWS does not reach ahead.
    calls = [each.example[0] for each in framed if frame.startswith("RANGE") or each.framing is not Framing.LEAD]
    items = ", ".join(f"{call} OVER w AS v{place}" for place, call in enumerate(calls))
    select = f"SELECT STREAM {items} FROM t WINDOW w AS (PARTITION BY k ORDER BY time {frame});"
    (query,) = penstock.compile(STREAM + select).program.queries
    assert any(isinstance(view, PaneView | BucketView) for view in query.views)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.name)
def test_the_parser_leaves_the_call_of_an_entry_as_it_is(function: Function) -> None:
    """An entry whose name the parser rewrites is never asked for: what it says would be dead."""
    for text in function.signatures:
        parameters = signature(text).parameters
        lambdas = ("x -> x", "(x, y) -> x", "(x, y, z) -> x")
        arguments = [
            lambdas[len(each.parameters) - 1] if isinstance(each, LambdaOf) else f"a{place}"
            for place, each in enumerate(parameters)
        ]
        (statement,) = parse(Source("<call>", f"SELECT {function.name}({', '.join(arguments)}) AS v FROM t"))
        assert isinstance(statement, syntax.QueryStatement)
        assert isinstance(statement.query, syntax.Select)
        called = {each.name for each in statement.query.items[0].value.find_all(exp.Anonymous)}
        assert function.name in called, f"{function.name}{text} is rewritten"


def test_functions_with_a_retraction_are_lowered() -> None:
    items = ", ".join(each.example[0] for each in FUNCTIONS if each.retraction is not None)
    assert penstock.compile(f"{TABLE}SELECT {items} FROM t;").program.queries


def test_functions_with_a_rule_for_distinct_are_lowered() -> None:
    calls = (each.example[0].replace("(", "(DISTINCT ", 1) for each in FUNCTIONS if each.distinct is not None)
    script = f"{STREAM}SELECT STREAM {', '.join(calls)} FROM t GROUP BY TUMBLE(time, 1 MIN);"
    assert penstock.compile(script).program.queries


def test_names_of_aggregates_are_compared_nowhere() -> None:
    """What is true of some aggregates and not of others is a field of their entries."""
    paths = [path for room in ("planner", "codegen", "kit", "runtime") for path in list_files(ROOT / room, ".py")]
    own = ROOT / "planner" / "functions"
    found = {(str(path.relative_to(ROOT)), name) for path in paths if own not in path.parents for name in listed(path)}
    assert found - ALLOWED == set()


def test_the_runtime_knows_no_function_by_name() -> None:
    """What functions fail with is a field of their entries, and travels with their places."""
    names = {each.name for each in FUNCTIONS}
    tree = ast.parse((ROOT / "runtime" / "failure" / "row_errors.py").read_text(encoding="utf-8"))
    found = {each.value for each in ast.walk(tree) if isinstance(each, ast.Constant)}
    assert found.isdisjoint(names)


def listed(path: Path) -> Iterator[str]:
    """The names of aggregates, and of functions over frames, that a module compares with or has in a list or dict."""
    names = {each.name for each in FUNCTIONS if each.aggregate or each.framed}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Compare():
                values: list[ast.expr | None] = [node.left, *node.comparators]
            case ast.MatchValue():
                values = [node.value]
            case ast.Tuple() | ast.List() | ast.Set():
                values = [*node.elts] if all(isinstance(each, ast.Constant) for each in node.elts) else []
            case ast.Dict():
                values = [*node.keys]
            case _:
                values = []
        yield from (each.value for each in values if isinstance(each, ast.Constant) and each.value in names)
