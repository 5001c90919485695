"""The join matrix: which kinds of relation may be joined how, and what comes out.

Source: the Kafka Streams join semantics, with the bound that makes a stream-stream join finite.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

import msgspec

from penstock.parser.ast import JoinKind
from penstock.planner.plan import KStream, KTable, Shape, WTable

INNER, LEFT, RIGHT, FULL = JoinKind.INNER, JoinKind.LEFT, JoinKind.RIGHT, JoinKind.FULL
ONE_SIDED = (JoinKind.SEMI, JoinKind.ANTI)


class JoinRule(msgspec.Struct, frozen=True):
    """A legal cell: the kinds of join it allows, what they give, and whether a time bound is required.

    `passes/check_supported.py` refuses the kinds that this version does not run. `reason`, `hint`: why there are no
    other kinds, and what comes close to them.
    """

    kinds: tuple[JoinKind, ...]
    result: type[Shape]
    bounded: bool = False
    reason: str | None = None
    hint: str | None = None


class Illegal(msgspec.Struct, frozen=True):
    """A cell that no kind of join can fill, why, and the way out."""

    reason: str
    hint: str


Cell: TypeAlias = JoinRule | Illegal


def find_cell(left: Shape, right: Shape) -> Cell:
    """The cell of the matrix for a join of `left` (primary) with `right` (secondary)."""
    match left, right:
        case KStream(), KStream():
            return JoinRule(tuple(JoinKind), result=KStream, bounded=True)
        case KStream(), KTable():
            return JoinRule((INNER, LEFT, *ONE_SIDED), result=KStream)
        case KStream(), WTable():
            hint = "SELECT STREAM of {right} in a subquery makes a stream of final rows, which has INNER and a bound"
            return JoinRule((LEFT,), result=KStream, hint=hint)
        case KTable(), KStream():
            return Illegal(
                "A table's change cannot look up the rows of a stream, which keeps none.",
                "swap the sides: the stream drives the join and looks up the table.",
            )
        case KTable(), KTable():
            return JoinRule((INNER, LEFT, RIGHT, FULL, *ONE_SIDED), result=KTable)
        case KTable(), WTable():
            reason = "An evicted window sends nothing, so rows that need it could not be deleted."
            hint = "WHERE {right}.window_start IS NOT NULL leaves out rows without a window"
            return JoinRule((LEFT,), result=KTable, reason=reason, hint=hint)
        case WTable(), KStream():
            return Illegal(
                "A windowed table's change cannot look up the rows of a stream, which keeps none.",
                "swap the sides: the stream drives the join and names the window.",
            )
        case WTable(), KTable():
            reason = "Rows of a windowed table are replaced and never deleted. This join would delete some."
            hint = "SELECT STREAM of {left} in a subquery makes a stream of final rows, which has INNER, too"
            return JoinRule((LEFT,), result=WTable, reason=reason, hint=hint)
        case WTable(), WTable():
            return JoinRule((INNER, LEFT, RIGHT, FULL), result=WTable)
        case _:
            assert_never((left, right))  # type: ignore[arg-type]
