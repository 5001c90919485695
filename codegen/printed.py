"""Texts that Spark is given, and which parts of the script stand where in them."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.diagnostics.source import Span
from penstock.planner.functions.facts import RowFault


@dataclass(frozen=True, slots=True)
class Place:
    """An expression in a text of Spark SQL: its characters `start` to `end`, not counting blanks; what it was made of.

    `name` is the name of a function, an operator's sign, or `CAST AS` and a type. `operands` are the operands of an
    operator.
    """

    start: int
    end: int
    name: str
    span: Span
    operands: tuple[Span, ...] = ()
    raises: tuple[RowFault, ...] = ()
    """What it may fail with for a row."""
    spark_name: str | None = None
    """What Spark calls it in errors, if that is another name."""
    null_form: str | None = None
    """The function that takes the same arguments or operands, and gives NULL instead of failing."""
    null_codes: tuple[str, ...] | None = None
    """The errors for which that gives NULL. None: all."""
    since: tuple[int, int] | None = None
    """The first version of Spark that has it. None: all that Penstock runs on have it."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A text that Spark is given, and the places of the script in it. They are for errors; nothing depends on them."""

    sql: str
    places: tuple[Place, ...]
