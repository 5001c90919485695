"""Functions that exist over a frame only, because they need the order of its rows."""

from __future__ import annotations

from sqlglot import exp

from penstock.planner.functions.function import Function
from penstock.planner.types import Type


def _away(arguments: tuple[exp.Expression, ...], types: tuple[Type, ...]) -> Type | None:
    """The first argument's type, if the second one, which says how far away, is a whole number as it stands."""
    literal = arguments[1] if len(arguments) > 1 else exp.Literal.number(1)
    is_whole = isinstance(literal, exp.Literal) and not literal.is_string and literal.name.isdecimal()
    return types[0] if is_whole else None


def _framed(name: str, signatures: tuple[str, ...], doc: str, example: tuple[str, object]) -> Function:
    return Function(name, signatures, doc, example, framed=True)


_AWAY = ("(T) -> T", "(T, I) -> T", "(T, I, T) -> T")

FRAMES = (
    _framed("DENSE_RANK", ("() -> INT",), "1 and the number of different times before the row's", ("DENSE_RANK()", 3)),
    _framed("FIRST", ("(T) -> T",), "the argument in the first row of the frame", ("FIRST(s)", "a")),
    _framed("FIRST_VALUE", ("(T) -> T",), "the same as FIRST", ("FIRST_VALUE(n)", 1)),
    Function(
        "LAG",
        _AWAY,
        "the argument n rows before (1 without a number), the third argument if that is not in the frame",
        ("LAG(n)", 2),
        framed=True,
        result=_away,
    ),
    _framed("LAST", ("(T) -> T",), "the argument in the last row of the frame", ("LAST(s)", "b")),
    _framed("LAST_VALUE", ("(T) -> T",), "the same as LAST", ("LAST_VALUE(n)", 4)),
    Function("LEAD", _AWAY, "the argument n rows after, else as LAG", ("LEAD(n, 1, 0)", 0), framed=True, result=_away),
    _framed("RANK", ("() -> INT",), "1 and the number of rows before the row's time", ("RANK()", 3)),
    _framed("ROW_NUMBER", ("() -> INT",), "the place of the row in its frame, from 1", ("ROW_NUMBER()", 3)),
)
