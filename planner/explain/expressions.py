"""Scalar expressions of a plan -> text for people."""

from __future__ import annotations

from sqlglot import exp


def expression_text(expression: exp.Expression) -> str:
    """The expression as Spark writes it, with plain names unquoted."""
    copy = expression.copy()
    for identifier in copy.find_all(exp.Identifier):
        if all(part.isidentifier() for part in identifier.name.split(".")):
            identifier.set("quoted", False)
    return copy.sql(dialect="spark")
