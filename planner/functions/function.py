"""What is known of one function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from penstock.planner.types import Type

Result: TypeAlias = Callable[[tuple[exp.Expression, ...], tuple[Type, ...]], Type | None]


@dataclass(frozen=True, slots=True)
class Function:
    """`signatures` are read by `signature`, the first that fits counts; `example` is an expression and its value.

    `result` gives the type where it depends on the value of an argument (None: the arguments are refused).
    The example of an aggregate is over the rows of `aggregates.EXAMPLE_ROWS`; that of a `framed` function, which has to
    have OVER, is over those where n is not NULL, in their order, and its value is that of the last row.
    `operator`: it takes what this operator takes, gives what it gives, and NULL where it fails.
    """

    name: str
    signatures: tuple[str, ...]
    doc: str
    example: tuple[str, object]
    aggregate: bool = False
    framed: bool = False
    result: Result | None = None
    operator: type[exp.Expression] | None = None
