"""Functions that choose between values."""

from __future__ import annotations

from sqlglot import exp

from penstock.planner.functions.facts import Laziness
from penstock.planner.functions.function import Function
from penstock.planner.types import BIGINT, DOUBLE, FLOAT, INT, Decimal, Type

_TWO = ("(T, T) -> T",)


def _with_zero(arguments: tuple[exp.Expression, ...], types: tuple[Type, ...]) -> Type | None:
    """The common type of a number and the INT 0."""
    type_ = types[0]
    if isinstance(type_, Decimal):
        whole = max(type_.precision - type_.scale, 10)
        return Decimal(min(38, whole + type_.scale), type_.scale - max(0, whole + type_.scale - 38))
    return DOUBLE if type_ in (FLOAT, DOUBLE) else BIGINT if type_ == BIGINT else INT


CONDITIONAL = (
    Function(
        "COALESCE",
        ("(T...) -> T",),
        "the first argument that is not NULL",
        ("COALESCE(NULL, 2, 3)", 2),
        laziness=Laziness.KNOWN,
    ),
    Function("EQUAL_NULL", ("(O, O) -> BOOLEAN",), "whether both are equal or both NULL", ("EQUAL_NULL(1, 1)", True)),
    Function("GREATEST", ("(O, O...) -> O",), "the greatest argument that is not NULL", ("GREATEST(1, 3, 2)", 3)),
    Function(
        "IF",
        ("(BOOLEAN, T, T) -> T",),
        "the second if the first is true, else the third",
        ("IF(1 < 2, 'a', 'b')", "a"),
        laziness=Laziness.CONDITION,
    ),
    Function("IFNULL", _TWO, "the second if the first is NULL", ("IFNULL(NULL, 'b')", "b"), laziness=Laziness.KNOWN),
    Function("ISNOTNULL", ("(ANY) -> BOOLEAN",), "whether it is not NULL", ("ISNOTNULL(1)", True)),
    Function("ISNULL", ("(ANY) -> BOOLEAN",), "whether it is NULL", ("ISNULL(1)", False)),
    Function("LEAST", ("(O, O...) -> O",), "the least argument that is not NULL", ("LEAST(1, 3, 2)", 1)),
    Function("NULLIF", ("(O, O) -> O",), "NULL if both are equal, else the first", ("NULLIF(1, 2)", 1)),
    Function("NULLIFZERO", ("(N) -> N",), "NULL for 0", ("NULLIFZERO(5)", 5)),
    Function("NVL", _TWO, "the same as IFNULL", ("NVL(NULL, 2)", 2), laziness=Laziness.KNOWN),
    Function(
        "NVL2", ("(ANY, T, T) -> T",), "the second if the first is not NULL, else the third", ("NVL2(1, 'a', 'b')", "a")
    ),
    Function("ZEROIFNULL", ("(N) -> N",), "0 for NULL", ("ZEROIFNULL(NULLIFZERO(0))", 0), result=_with_zero),
)
