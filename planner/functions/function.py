"""What is known of one function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.planner.functions.facts import (
    Collecting,
    DistinctRule,
    Failing,
    Framing,
    Laziness,
    Retraction,
    RowFault,
    Size,
)
from penstock.planner.types import Type

Result: TypeAlias = Callable[[tuple[exp.Expression, ...], tuple[Type, ...]], Type | None]


class Function(msgspec.Struct, frozen=True):
    """Everything that is known of a function. `signatures` are read by `signature`; the first that fits counts.

    `example` is an expression and its value. An aggregate is computed over `aggregates.EXAMPLE_ROWS`. A function that
    needs OVER gives its value in the last row. Its rows are in order, and n is not NULL.
    """

    name: str
    signatures: tuple[str, ...]
    doc: str
    example: tuple[str, object]
    aggregate: bool = False
    result: Result | None = None
    """Gives the type where it depends on the value of an argument. None: the arguments are refused."""
    operator: type[exp.Expression] | None = None
    """It takes what this operator takes, gives what it gives, and NULL where it fails."""
    synonym_of: str | None = None
    framing: Framing | None = None
    """How it is computed over a frame. None: OVER is refused."""
    retraction: Retraction | None = None
    """What it follows from over a table. None: a row cannot be taken out of its group."""
    distinct: DistinctRule | None = None
    """What DISTINCT makes of it over a group. None: DISTINCT is not supported."""
    collecting: Collecting | None = None
    """What it makes of the values of a group. None: it keeps no values in order."""
    sketch_bytes: int = 0
    """For an aggregate: the bytes that it keeps for a group beside a value and a count. Estimates use it."""
    is_distinct: bool = False
    """Equal arguments count once, as with DISTINCT."""
    clock: bool = False
    """It gives the clock of the machine: the same in all rows of a micro-batch, another one in the next."""
    bare: bool = False
    """It is also called without parentheses."""
    laziness: Laziness | None = None
    """Which arguments are evaluated. None: all of them."""
    failing: Failing | None = None
    """For which rows it fails. None: for no rows."""
    raises: tuple[RowFault, ...] = ()
    """What it may fail with for a row."""
    spark_name: str | None = None
    """What Spark calls it in errors. None: by its own name."""
    stands_for: str | None = None
    """The function that Spark is asked for in its place. None: it is asked for itself."""
    form: Callable[[tuple[exp.Expression, ...]], exp.Expression] | None = None
    """What Spark is asked for in its place, over the arguments; they know their types."""
    since: tuple[int, int] | None = None
    """The first version of Spark that has it. None: all that Penstock runs on have it."""
    size: Size | None = None
    """How large literal arguments make its result, where they can make it too large."""

    @property
    def original(self) -> str:
        """The name of the function that it is a synonym of, else its own."""
        return self.synonym_of or self.name

    @property
    def tried(self) -> tuple[str, ...]:
        """The codes of the errors for which TRY_<name> gives NULL."""
        if self.failing is None:
            return ()
        form = self.failing.null_form
        own = () if form is None else (form.code, *([form.cast_code] if form.cast_code else []))
        return (*own, *self.failing.tried)

    @property
    def framed(self) -> bool:
        """Whether it has to have OVER, because it needs the order of the rows of a frame."""
        return self.framing is not None and not self.aggregate

    def never_fails(self, arguments: Sequence[exp.Expression]) -> bool:
        """Whether it gives a value, or has a form that gives NULL, for all values of arguments that are no literals."""
        failing = self.failing
        if failing is None or len(arguments) < failing.least_arguments:
            return True
        if failing.literals is None:
            return failing.null_form is not None
        return all(_is_literal(arguments[place]) for place in failing.literals if place < len(arguments))


def synonym(name: str, original: Function, example: tuple[str, object]) -> Function:
    """Another name of a function, with all that is known of it."""
    return replace(original, name=name, doc=f"the same as {original.name}", example=example, synonym_of=original.name)


def _is_literal(argument: exp.Expression) -> bool:
    """Whether it is a text or number as it stands, perhaps with a sign."""
    inner = argument.unnest()
    return isinstance(inner.this if isinstance(inner, exp.Neg) else inner, exp.Literal)
