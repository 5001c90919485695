"""OVER rules -> Over, NamedWindow, and the parts of exp.Window."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, nearest
from penstock.diagnostics.codes.event_time import W024
from penstock.diagnostics.codes.syntax import S026
from penstock.diagnostics.source import Span
from penstock.grammar import Token
from penstock.parser.ast import Item, Name, NamedWindow, OverClause
from penstock.parser.build.base import Builder, name, placed, sequence, words
from penstock.parser.unparse_scalars import name_text


class ExtendedWindow(msgspec.Struct, frozen=True):
    """`(name ORDER BY … frame)`: what a window of the WINDOW clause gets more."""

    base: exp.Identifier
    over: OverClause


def over(
    span: Span,
    base: exp.Identifier | None,
    partition_by: tuple[tuple[exp.Expression, ...]] | None,
    order_by: tuple[exp.Ordered, ...] | None,
    frame: exp.WindowSpec | None,
) -> OverClause | ExtendedWindow:
    own = OverClause(partition_by[0] if partition_by else (), order_by or (), frame, span)
    if base is None:
        return own
    if own.partition_by:
        raise _refuse(span, "PARTITION BY behind the name of a window", "The window has its own.", str(base.name))
    return ExtendedWindow(base, own)


class ExtendingWindow(msgspec.Struct, frozen=True):
    """`name AS (other ORDER BY … frame)` of a WINDOW clause."""

    name: Name
    window: ExtendedWindow


def named_window(span: Span, token: Token, over: OverClause | ExtendedWindow) -> NamedWindow | ExtendingWindow:
    named = name(span, token)
    return NamedWindow(named, over) if isinstance(over, OverClause) else ExtendingWindow(named, over)


def refuse_extended(over: OverClause | ExtendedWindow | None) -> OverClause | None:
    """The OVER of a relation, which names no window. Raises CompileError."""
    if isinstance(over, ExtendedWindow):
        raise CompileError([W024.at(over.over.span, "", name=over.base.name)])
    return over


def extend_windows(
    written: Sequence[NamedWindow | ExtendingWindow], items: tuple[Item, ...], qualify: exp.Expression | None
) -> tuple[NamedWindow, ...]:
    """The WINDOW clause, with all that is said of each window, there and in the calls. Raises CompileError."""
    windows: list[NamedWindow] = []
    bases: set[str] = set()
    used: set[str] = set()
    for each in written:
        if isinstance(each, ExtendingWindow):
            bases.add(each.window.base.name.lower())
            windows.append(NamedWindow(each.name, _extend(windows, each.window.base, each.window.over)))
        else:
            windows.append(each)
    values = [item.value for item in items] + ([] if qualify is None else [qualify])
    for value in values:
        for call in [*value.find_all(exp.Window)]:
            name = call.args.get("alias")
            if name is not None and EXTENDS in call.meta:
                bases.add(name.name.lower())
                _fill(call, _extend(windows, name, call.meta.pop(EXTENDS)))
            elif name is not None:
                used.add(name.name.lower())
    # What others extend may lack a frame of its own.
    kept = (each for each in windows if each.over.frame or each.name.folded not in bases - used)
    return tuple(kept)


EXTENDS = "extends"
"""The key in `meta` of what a call says more of the window that it names."""


def _fill(call: exp.Window, over: OverClause) -> None:
    call.set("alias", None)
    call.set("partition_by", [each.copy() for each in over.partition_by])
    order = [each.copy() for each in over.order_by]
    call.set("order", placed(exp.Order(expressions=order), over.span) if order else None)
    call.set("spec", over.frame)


def _extend(windows: Sequence[NamedWindow], base: exp.Identifier, over: OverClause) -> OverClause:
    """What `base` says, and what `over` says more. Raises CompileError."""
    named = next((each.over for each in windows if each.name.folded == base.name.lower()), None)
    if named is None:
        guess = nearest(base.name, [each.name.text for each in windows])
        raise CompileError([W024.at(over.span, "", name=base.name).with_guess(guess and name_text(guess))])
    if named.order_by and over.order_by:
        raise _refuse(over.span, "ORDER BY behind a window that has one", "A window has one order.", base.name)
    if named.frame is not None:
        raise _refuse(over.span, "more behind a window with a frame", "Its frame stays as it is.", base.name)
    return replace(over, partition_by=named.partition_by, order_by=over.order_by or named.order_by)


def _refuse(span: Span, construct: str, reason: str, hint: str) -> CompileError:
    return CompileError([S026.at(span, construct=construct).because(reason).with_hint(f"OVER {hint}")])


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
