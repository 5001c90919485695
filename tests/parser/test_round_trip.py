"""Printing a statement and parsing the text gives the statement, for statements of every shape."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from penstock.parser import ast_text, unparse
from penstock.parser.ast import Statement
from tests.parser.texts import statement
from tests.properties.statements import statements


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(statements)
def test_parse_of_unparse_is_the_statement(generated: Statement) -> None:
    text = unparse(generated)
    parsed = statement(text)
    assert parsed == generated, text
    assert unparse(parsed) == text
    assert ast_text(parsed) == ast_text(generated)
