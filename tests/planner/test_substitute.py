"""Columns that are put into a lambda's body are not taken for its parameters, whatever these are called."""

from __future__ import annotations

import pytest
from sqlglot import exp

import penstock
from penstock.codegen.sql.assign_windows import in_some_window
from penstock.codegen.sql.printing import print_inline
from penstock.compilation import compile_read
from penstock.diagnostics import Source
from penstock.planner.plan import AssignWindows, Filter, Node, Rekey
from penstock.planner.plan.substitute import substitute
from penstock.planner.plan.walk import walk

DECLARED = """
CREATE STREAM s (x BIGINT KEY, a ARRAY<BIGINT>, z BIGINT, t TIMESTAMP, WATERMARK FOR t AS t - INTERVAL '1' SECOND)
WITH (connector = 'files', path = 's', format = 'json');
CREATE TABLE k (x BIGINT PRIMARY KEY, a ARRAY<BIGINT>, z BIGINT)
WITH (connector = 'files', path = 'k', format = 'json');
"""


def planned(sql: str) -> Node:
    (query,) = penstock.compile(DECLARED + sql).queries
    return query.root


def lambdas(root: Node, kind: type[Node]) -> list[str]:
    """The lambdas of all operators of a kind, as they are printed for Spark."""
    nodes = [node for node in walk(root) if isinstance(node, kind)]
    found = (each for node in nodes for value in node.expressions for each in value.find_all(exp.Lambda))
    return [print_inline(each) for each in found]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT STREAM x AS y FROM s PARTITION BY SIZE(FILTER(a, x -> x > y))", "`x_` -> `x_` > `x`"),
        ("SELECT STREAM x AS y FROM s PARTITION BY SIZE(FILTER(a, X -> x > y))", "`x_` -> `x_` > `x`"),
        ("SELECT STREAM x AS y FROM s PARTITION BY SIZE(FILTER(a, y -> y > z))", "`y` -> `y` > `z`"),
        ("SELECT STREAM x AS y FROM s PARTITION BY SIZE(FILTER(a, z -> z > s.z))", "`z_` -> `z_` > `z`"),
    ],
)
def test_partition_by(sql: str, expected: str) -> None:
    assert lambdas(planned(sql), Rekey) == [expected]


LISTED = [
    ("x -> x > y", "`x_` -> `x_` > `x`"),
    ("Y -> y > z", "`Y` -> `Y` > `z`"),
    ("y -> y > s.x", "`y` -> `y` > `x`"),
]


@pytest.mark.parametrize(("function", "expected"), LISTED)
def test_qualify(function: str, expected: str) -> None:
    place = "ROW_NUMBER() OVER (PARTITION BY t ORDER BY z) AS n"
    running = planned(f"SELECT STREAM x AS y, t, {place} FROM s QUALIFY n < SIZE(FILTER(a, {function}))")
    assert lambdas(running, Filter) == [expected]


@pytest.mark.parametrize(("function", "expected"), LISTED)
def test_order_by(function: str, expected: str) -> None:
    sql = f"SELECT x AS y FROM k AS s ORDER BY SIZE(FILTER(a, {function}))"
    read = compile_read(Source("<read>", sql), penstock.compile(DECLARED).catalog, memory=True)
    assert any(expected in view.sql.replace("\n", "") for view in read.views), read.views


def test_a_window_under_a_condition() -> None:
    root = planned(
        "SELECT STREAM window_start FROM HOP(s, t, INTERVAL '1' SECOND, INTERVAL '2' SECOND) "
        "WHERE EXISTS(a, mark -> mark > UNIX_MICROS(window_start))"
    )
    (assigned,) = (node for node in walk(root) if isinstance(node, AssignWindows))
    (filtered,) = (node for node in walk(root) if isinstance(node, Filter))
    text = print_inline(in_some_window(assigned, filtered.condition))
    assert "EXISTS(`a`, `mark_` -> `mark_` > UNIX_MICROS(TIMESTAMP_MICROS(`mark`)))" in text


def test_all_of_a_lambda_is_renamed_and_fields_are_not() -> None:
    function = exp.Lambda(
        this=exp.Add(
            this=exp.Dot(this=exp.to_identifier("x"), expression=exp.to_identifier("x")),
            expression=exp.Anonymous(this="F", expressions=[exp.column("y"), exp.to_identifier("x_", quoted=True)]),
        ),
        expressions=[exp.to_identifier("x"), exp.to_identifier("x_")],
    )
    printed = print_inline(substitute(function, {"y": exp.Add(this=exp.column("X"), expression=exp.column("z"))}))
    assert printed == "(`x__`, `x_`) -> `x__`.`x` + F(`X` + `z`, `x_`)"
