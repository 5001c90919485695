"""Printing a statement and parsing the text gives the statement, for statements of every shape."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from penstock.parser import ast_text, unparse
from penstock.parser.ast import Statement
from tests.parser.texts import statement
from tests.properties.statements import statements


@pytest.mark.parametrize(
    "window", ["TUMBLING (SIZE 1 HOUR)", "HOPPING (SIZE 1 HOUR, ADVANCE BY 5 MINUTES)", "SESSION (5 MINUTES)"]
)
def test_a_window_beside_group_by_all(window: str) -> None:
    parsed = statement(f"SELECT k, COUNT(*) AS n FROM s WINDOW {window} WHERE k > 1 GROUP BY ALL HAVING n > 1")
    assert statement(unparse(parsed)) == parsed


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(statements)
def test_parse_of_unparse_is_the_statement(generated: Statement) -> None:
    text = unparse(generated)
    parsed = statement(text)
    assert parsed == generated, text
    assert unparse(parsed) == text
    assert ast_text(parsed) == ast_text(generated)
