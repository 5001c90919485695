"""Functions that choose between values."""

from __future__ import annotations

from penstock.planner.functions.facts import Laziness
from penstock.planner.functions.function import Function

_TWO = ("(T, T) -> T",)

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
)
