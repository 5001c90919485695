"""Which column a name stands for."""

from __future__ import annotations

import pytest
from sqlglot import exp

from penstock.diagnostics import Diagnostic
from penstock.planner.scalars.scopes import Scope, ScopeColumn
from penstock.planner.types import BIGINT, INT, STRING
from tests.planner.expressions import expression

ORDER_ID = ScopeColumn("o", "id", "o.id", BIGINT)
PRICE = ScopeColumn("o", "Price", "o.Price", INT)
USER_ID = ScopeColumn("u", "id", "u.id", BIGINT)
START = ScopeColumn(None, "window_start", "window_start", STRING)
SCOPE = Scope((ORDER_ID, PRICE, USER_ID, START))


def find(text: str) -> tuple[ScopeColumn | None, list[Diagnostic]]:
    node, report = expression(text), list[Diagnostic]()
    assert isinstance(node, exp.Column)
    return SCOPE.find(node, report), report


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("o.id", ORDER_ID),
        ("U.ID", USER_ID),
        ("price", PRICE),
        ("`PRICE`", PRICE),
        ("o.price", PRICE),
        ("window_start", START),
    ],
)
def test_a_name_stands_for_its_column_in_any_case(text: str, column: ScopeColumn) -> None:
    assert find(text) == (column, [])


@pytest.mark.parametrize(
    ("text", "code", "message", "hint"),
    [
        ("pric", "N001", "unknown column pric", "did you mean Price?"),
        ("zzz", "N001", "unknown column zzz", "known: id, Price, window_start"),
        ("u.price", "N001", "unknown column u.price", "known: id"),
        ("o.pricf", "N001", "unknown column o.pricf", "did you mean Price?"),
        ("id", "N002", "column id is ambiguous", "write o.id or u.id"),
        ("orders.id", "N003", "unknown relation orders", "known: o, u"),
        ("x.id", "N003", "unknown relation x", "known: o, u"),
    ],
)
def test_a_name_that_stands_for_nothing_is_reported(text: str, code: str, message: str, hint: str) -> None:
    found, (problem,) = find(text)
    assert found is None
    assert (problem.code, problem.message, problem.hint) == (code, message, hint)
    assert problem.labels[0].span.text == text
