"""Functions that exist over a frame only, because they need the order of its rows."""

from __future__ import annotations

from sqlglot import exp

from penstock.planner.functions.facts import Framing
from penstock.planner.functions.function import Function, synonym
from penstock.planner.types import Type


def _away(arguments: tuple[exp.Expression, ...], types: tuple[Type, ...]) -> Type | None:
    """The first argument's type, if the second one, which says how far away, is a whole number as it stands."""
    literal = arguments[1] if len(arguments) > 1 else exp.Literal.number(1)
    is_whole = isinstance(literal, exp.Literal) and not literal.is_string and literal.name.isdecimal()
    return types[0] if is_whole else None


def _framed(
    name: str, signatures: tuple[str, ...], doc: str, example: tuple[str, object], framing: Framing
) -> Function:
    return Function(name, signatures, doc, example, framing=framing, result=_away if framing.looks_away else None)


_AWAY = ("(T) -> T", "(T, I) -> T", "(T, I, T) -> T")

_FIRST = _framed("FIRST", ("(T) -> T",), "the argument in the first row of the frame", ("FIRST(s)", "a"), Framing.FIRST)
_LAST = _framed("LAST", ("(T) -> T",), "the argument in the last row of the frame", ("LAST(s)", "b"), Framing.LAST)

FRAMES = (
    _framed(
        "DENSE_RANK",
        ("() -> INT",),
        "1 and the number of different times before the row's",
        ("DENSE_RANK()", 3),
        Framing.DENSE_RANK,
    ),
    _FIRST,
    synonym("FIRST_VALUE", _FIRST, ("FIRST_VALUE(n)", 1)),
    _framed(
        "LAG",
        _AWAY,
        "the argument n rows before (1 without a number), the third argument if that is not in the frame",
        ("LAG(n)", 2),
        Framing.LAG,
    ),
    _LAST,
    synonym("LAST_VALUE", _LAST, ("LAST_VALUE(n)", 4)),
    _framed("LEAD", _AWAY, "the argument n rows after, else as LAG", ("LEAD(n, 1, 0)", 0), Framing.LEAD),
    _framed("RANK", ("() -> INT",), "1 and the number of rows before the row's time", ("RANK()", 3), Framing.RANK),
    _framed(
        "ROW_NUMBER",
        ("() -> INT",),
        "the place of the row in its frame, from 1",
        ("ROW_NUMBER()", 3),
        Framing.ROW_NUMBER,
    ),
)
