"""OVER rules -> Over, NamedWindow, and the parts of exp.Window."""

from __future__ import annotations

from sqlglot import exp

from penstock.diagnostics.source import Span
from penstock.grammar import Token
from penstock.parser.ast import NamedWindow, OverClause
from penstock.parser.build.base import Builder, name, placed, sequence, words


def over(
    span: Span,
    partition_by: tuple[tuple[exp.Expression, ...]] | None,
    order_by: tuple[exp.Ordered, ...] | None,
    frame: exp.WindowSpec | None,
) -> OverClause:
    return OverClause(partition_by[0] if partition_by else (), order_by or (), frame, span)


def named_window(span: Span, token: Token, over: OverClause) -> NamedWindow:
    return NamedWindow(name(span, token), over)


def ordered(span: Span, value: exp.Expression, direction: str | None, nulls: str | None) -> exp.Ordered:
    """Spark's default: NULLs are the smallest values."""
    descending = direction == "DESC"
    nulls_first = nulls == "FIRST" if nulls else not descending
    return placed(exp.Ordered(this=value, desc=descending, nulls_first=nulls_first), span)


def nulls_first(span: Span) -> str:
    return "FIRST"


def nulls_last(span: Span) -> str:
    return "LAST"


# A bound of a frame: its distance, or a word for it, and its side.
_Bound = tuple[exp.Expression | str, str | None]


def frame(span: Span, unit: str, start: _Bound, end: _Bound = ("CURRENT ROW", None)) -> exp.WindowSpec:
    """`RANGE d PRECEDING` is short for `RANGE BETWEEN d PRECEDING AND CURRENT ROW`."""
    return placed(exp.WindowSpec(kind=unit, start=start[0], start_side=start[1], end=end[0], end_side=end[1]), span)


def unbounded_preceding(span: Span) -> _Bound:
    return "UNBOUNDED", "PRECEDING"


def unbounded_following(span: Span) -> _Bound:
    return "UNBOUNDED", "FOLLOWING"


def current_row(span: Span) -> _Bound:
    return "CURRENT ROW", None


def preceding(span: Span, distance: exp.Expression) -> _Bound:
    return distance, "PRECEDING"


def following(span: Span, distance: exp.Expression) -> _Bound:
    return distance, "FOLLOWING"


RULES: dict[str, Builder] = {
    "over": over,
    "over_partition": sequence,
    "over_order": sequence,
    "named_window": named_window,
    "ordered": ordered,
    "direction": words,
    "nulls_first": nulls_first,
    "nulls_last": nulls_last,
    "frame": frame,
    "frame_unit": words,
    "unbounded_preceding": unbounded_preceding,
    "unbounded_following": unbounded_following,
    "current_row": current_row,
    "preceding": preceding,
    "following": following,
}
