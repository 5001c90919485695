"""What every family of AST nodes shares: names and the scalar expressions.

Scalar expressions are sqlglot nodes whose `meta["span"]` holds their place. The kinds that occur are listed in
`parser/build/scalars.py`. A query inside an expression is an AST query held as the `query` argument of `exp.In`
or as `this` of `exp.Exists` and `exp.Subquery`.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec
from sqlglot import exp

from penstock.diagnostics.source import Placed, Span

Scalar: TypeAlias = exp.Expression

EVENT_TIME = "ROWTIME"
"""ksqlDB's name for the event time, whatever its column is called."""


def parse_count(text: str, digits: int = 9) -> int | None:
    """The value of at most so many ASCII digits. `int` takes other digits, too, and fails on thousands of them."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else None


class Name(Placed, frozen=True):
    """An identifier as written. Names are resolved without regard to case."""

    text: str
    span: Span

    @property
    def folded(self) -> str:
        return self.text.lower()


class Option(msgspec.Struct, frozen=True):
    """`name = literal`, ENV('…') or FILE('…') of a WITH list, or a SET. The last two are calls (exp.Anonymous)."""

    name: Name
    value: exp.Expression
