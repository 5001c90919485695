"""Filter, Project and UnionAll, case by case."""

from __future__ import annotations

import pytest
from sqlglot import exp

from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.typed_values import QueryFailure, Row, Unsupported
from penstock.planner.plan import Column, Filter, Node, UnionAll
from penstock.planner.types import BIGINT, INT, STRING
from tests.model import plans
from tests.model.plans import NOWHERE, STREAM, column

SOURCE = plans.scan("a", {"id": BIGINT, "v": INT}, time=None, delay=None)


def test_a_filter_lets_only_true_pass() -> None:
    condition = exp.GT(this=column("v"), expression=exp.Literal.number(0))
    node = Filter(schema=SOURCE.schema, shape=STREAM, span=NOWHERE, input=SOURCE, condition=condition)
    rows: list[Row] = [{"id": 1, "v": 1}, {"id": 2, "v": 0}, {"id": 3, "v": None}]
    assert evaluate(node, {"a": rows}) == rows[:1]


def test_a_projection_computes_each_row_and_keeps_to_its_types() -> None:
    doubled = exp.Add(this=column("v"), expression=column("v"))
    node = plans.project(SOURCE, [("twice", doubled, INT), ("id", column("id"), BIGINT)])
    assert evaluate(node, {"a": [{"id": 1, "v": 4}]}) == [{"twice": 8, "id": 1}]
    with pytest.raises(QueryFailure, match="overflows INT"):
        evaluate(node, {"a": [{"id": 1, "v": 2**30}]})


def test_union_all_keeps_duplicates_and_the_first_names() -> None:
    other = plans.scan("b", {"key": BIGINT, "value": INT}, time=None, delay=None)
    node = UnionAll(schema=SOURCE.schema, shape=STREAM, span=NOWHERE, inputs=(SOURCE, other, SOURCE))
    rows = evaluate(node, {"a": [{"id": 1, "v": 1}], "b": [{"key": 2, "value": None}]})
    assert rows == [{"id": 1, "v": 1}, {"id": 2, "v": None}, {"id": 1, "v": 1}]


def test_an_unknown_operator_is_not_guessed() -> None:
    node = Node(schema=(Column("x", STRING),), shape=STREAM, span=NOWHERE)
    with pytest.raises(Unsupported, match="a relation"):
        evaluate(node, {})
