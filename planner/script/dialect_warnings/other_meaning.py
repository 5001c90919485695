"""What a form means in another system, and how the parts of the form are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec
from sqlglot import exp

from penstock.planner.scalars.literals import bare


class OtherMeaning(msgspec.Struct, frozen=True):
    """What a form means elsewhere. `hint`: the form that means the same in all systems, or what they mean."""

    form: str
    systems: str
    reason: str
    hint: str


Rule: TypeAlias = Callable[[exp.Expression], OtherMeaning | None]
"""What an expression means elsewhere, None where that is the same."""


def text_of(part: exp.Expression) -> str:
    """What stands in the script for an operand, which may be cast."""
    span = part.meta.get("span")
    return part.name if span is None else str(span.text)


def argument_of(call: exp.Expression) -> str:
    """What stands in the script for the only argument of a call, which may be read as something else."""
    argument = call.expressions[0]
    within = text_of(call).partition("(")[2].rpartition(")")[0]
    return text_of(argument) if "span" in argument.meta or not within else within.strip()


def inner(part: exp.Expression) -> exp.Expression:
    """An operand without the casts around it that nobody wrote."""
    while isinstance(part, exp.Cast) and part.meta.get("span") == part.this.meta.get("span"):
        part = part.this
    return bare(part)
