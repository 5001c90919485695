"""Functions of arrays. Positions count from 1."""

from __future__ import annotations

from penstock.planner.functions.facts import Failing, RowFault, Size
from penstock.planner.functions.function import Function, Result
from penstock.planner.types import BIGINT, BOOLEAN, VOID, Type


def result_of_search(result: Type) -> Result:
    """`result`, unless neither the elements nor what is searched for have a type."""
    return lambda arguments, types: None if types[1] == VOID else result


_ONE = ("(ARRAY<T>) -> ARRAY<T>",)
_TWO = ("(ARRAY<O>, ARRAY<O>) -> ARRAY<O>",)

ARRAYS = (
    Function(
        "AGGREGATE",
        ("(ARRAY<T>, U, (U, T) -> U) -> U", "(ARRAY<T>, U, (U, T) -> U, (U) -> V) -> V"),
        "folded from a start value on",
        ("AGGREGATE(ARRAY(1, 2, 3), 0, (a, x) -> a + x)", 6),
    ),
    Function(
        "ARRAY", ("() -> ARRAY<VOID>", "(T...) -> ARRAY<T>"), "an array of the arguments", ("ARRAY(1, 2)", [1, 2])
    ),
    Function(
        "ARRAYS_OVERLAP",
        ("(ARRAY<O>, ARRAY<O>) -> BOOLEAN",),
        "whether they have an element in common",
        ("ARRAYS_OVERLAP(ARRAY(1, 2), ARRAY(2))", True),
    ),
    Function(
        "ARRAY_APPEND",
        ("(ARRAY<T>, T) -> ARRAY<T>",),
        "with one more element at the end",
        ("ARRAY_APPEND(ARRAY(1), 2)", [1, 2]),
    ),
    Function("ARRAY_COMPACT", _ONE, "without NULLs", ("ARRAY_COMPACT(ARRAY(1, NULL))", [1])),
    Function(
        "ARRAY_CONTAINS",
        ("(ARRAY<O>, O) -> BOOLEAN",),
        "whether it has such an element",
        ("ARRAY_CONTAINS(ARRAY(1, 2), 2)", True),
        result=result_of_search(BOOLEAN),
    ),
    Function(
        "ARRAY_DISTINCT", ("(ARRAY<O>) -> ARRAY<O>",), "without repetitions", ("ARRAY_DISTINCT(ARRAY(1, 2, 1))", [1, 2])
    ),
    Function(
        "ARRAY_EXCEPT",
        _TWO,
        "the elements of the first that the second has not",
        ("ARRAY_EXCEPT(ARRAY(1, 2), ARRAY(2))", [1]),
    ),
    Function(
        "ARRAY_INSERT",
        ("(ARRAY<T>, POSITION, T) -> ARRAY<T>",),
        "with one more element at a position",
        ("ARRAY_INSERT(ARRAY(1, 3), 2, 2)", [1, 2, 3]),
        failing=Failing(),
        raises=(RowFault.ZERO_INDEX, RowFault.LONG_ARRAY),
    ),
    Function(
        "ARRAY_INTERSECT", _TWO, "the elements that both have", ("ARRAY_INTERSECT(ARRAY(1, 2), ARRAY(2, 3))", [2])
    ),
    Function(
        "ARRAY_JOIN",
        ("(ARRAY<STRING>, STRING) -> STRING", "(ARRAY<STRING>, STRING, STRING) -> STRING"),
        "the texts joined by the second, NULLs as the third",
        ("ARRAY_JOIN(ARRAY('a', 'b'), '-')", "a-b"),
    ),
    Function("ARRAY_MAX", ("(ARRAY<O>) -> O",), "the greatest element", ("ARRAY_MAX(ARRAY(1, 3, 2))", 3)),
    Function("ARRAY_MIN", ("(ARRAY<O>) -> O",), "the least element", ("ARRAY_MIN(ARRAY(2, 1))", 1)),
    Function(
        "ARRAY_POSITION",
        ("(ARRAY<O>, O) -> BIGINT",),
        "the position of the first such element, 0 if absent",
        ("ARRAY_POSITION(ARRAY('a', 'b'), 'b')", 2),
        result=result_of_search(BIGINT),
    ),
    Function(
        "ARRAY_PREPEND",
        ("(ARRAY<T>, T) -> ARRAY<T>",),
        "with one more element at the beginning",
        ("ARRAY_PREPEND(ARRAY(2), 1)", [1, 2]),
    ),
    Function(
        "ARRAY_REMOVE",
        ("(ARRAY<O>, O) -> ARRAY<O>",),
        "without such elements",
        ("ARRAY_REMOVE(ARRAY(1, 2, 1), 1)", [2]),
    ),
    Function(
        "ARRAY_REPEAT",
        ("(T, INT) -> ARRAY<T>",),
        "n times the same",
        ("ARRAY_REPEAT('a', 2)", ["a", "a"]),
        failing=Failing(literals=(1,)),
        size=Size("elements", count=1, of=0),
        raises=(RowFault.LONG_ARRAY,),
    ),
    Function(
        "ARRAY_SORT",
        ("(ARRAY<O>) -> ARRAY<O>",),
        "sorted, NULLs last",
        ("ARRAY_SORT(ARRAY(2, NULL, 1))", [1, 2, None]),
    ),
    Function("ARRAY_SIZE", ("(ARRAY<T>) -> INT",), "how many elements it has", ("ARRAY_SIZE(ARRAY(1, 2))", 2)),
    Function(
        "ARRAY_UNION",
        _TWO,
        "the elements of both, without repetitions",
        ("ARRAY_UNION(ARRAY(1, 2), ARRAY(2, 3))", [1, 2, 3]),
        raises=(RowFault.LONG_ARRAY,),
    ),
    Function(
        "CARDINALITY", ("(ARRAY<T>) -> INT", "(MAP<K, V>) -> INT"), "the same as SIZE", ("CARDINALITY(ARRAY(1, 2))", 2)
    ),
    Function(
        "ELEMENT_AT",
        ("(ARRAY<T>, POSITION) -> T", "(MAP<K, V>, K) -> V"),
        "the element at a position (negative: from the end) or of a key",
        ("ELEMENT_AT(ARRAY(1, 2), -1)", 2),
        failing=Failing(tried=("R023",)),
        raises=(RowFault.INDEX, RowFault.ZERO_INDEX),
    ),
    Function(
        "EXISTS",
        ("(ARRAY<T>, (T) -> BOOLEAN) -> BOOLEAN",),
        "whether it is true of some element",
        ("EXISTS(ARRAY(1, 2), x -> x > 1)", True),
    ),
    Function(
        "FILTER",
        ("(ARRAY<T>, (T) -> BOOLEAN) -> ARRAY<T>", "(ARRAY<T>, (T, INT) -> BOOLEAN) -> ARRAY<T>"),
        "the elements for which it is true",
        ("FILTER(ARRAY(1, 2, 3), x -> x > 1)", [2, 3]),
    ),
    Function(
        "FLATTEN",
        ("(ARRAY<ARRAY<T>>) -> ARRAY<T>",),
        "the elements of all its arrays",
        ("FLATTEN(ARRAY(ARRAY(1), ARRAY(2)))", [1, 2]),
        raises=(RowFault.LONG_ARRAY,),
    ),
    Function(
        "FORALL",
        ("(ARRAY<T>, (T) -> BOOLEAN) -> BOOLEAN",),
        "whether it is true of all elements",
        ("FORALL(ARRAY(1, 2), x -> x > 1)", False),
    ),
    Function(
        "GET",
        ("(ARRAY<T>, INT) -> T",),
        "the element at a position counted from 0, NULL if there is none",
        ("GET(ARRAY(1, 2), 0)", 1),
    ),
    Function(
        "REDUCE",
        ("(ARRAY<T>, U, (U, T) -> U) -> U", "(ARRAY<T>, U, (U, T) -> U, (U) -> V) -> V"),
        "the same as AGGREGATE",
        ("REDUCE(ARRAY(1, 2, 3), 0, (a, x) -> a + x, a -> a * 2)", 12),
    ),
    Function(
        "SEQUENCE",
        ("(I, I) -> ARRAY<I>", "(I, I, I) -> ARRAY<I>"),
        "the numbers from the first to the second, by the third",
        ("SEQUENCE(1, 5, 2)", [1, 3, 5]),
        failing=Failing(),
        size=Size("elements", count=None),
        raises=(RowFault.STEPS, RowFault.LONG_ARRAY),
    ),
    Function("SIZE", ("(ARRAY<T>) -> INT", "(MAP<K, V>) -> INT"), "how many elements it has", ("SIZE(ARRAY(1, 2))", 2)),
    Function(
        "SLICE",
        ("(ARRAY<T>, POSITION, INT) -> ARRAY<T>",),
        "from a position on, n elements",
        ("SLICE(ARRAY(1, 2, 3), 2, 2)", [2, 3]),
        failing=Failing(literals=(1, 2)),
        raises=(RowFault.ARGUMENT,),
    ),
    Function(
        "SORT_ARRAY",
        ("(ARRAY<O>) -> ARRAY<O>", "(ARRAY<O>, FLAG) -> ARRAY<O>"),
        "sorted; false: backwards",
        ("SORT_ARRAY(ARRAY(2, 1))", [1, 2]),
    ),
    Function(
        "TRANSFORM",
        ("(ARRAY<T>, (T) -> U) -> ARRAY<U>", "(ARRAY<T>, (T, INT) -> U) -> ARRAY<U>"),
        "each element changed",
        ("TRANSFORM(ARRAY(1, 2), x -> x + 1)", [2, 3]),
    ),
    Function(
        "TRY_ELEMENT_AT",
        ("(ARRAY<T>, POSITION) -> T", "(MAP<K, V>, K) -> V"),
        "as ELEMENT_AT, but NULL if there is none",
        ("TRY_ELEMENT_AT(ARRAY(1, 2), 2)", 2),
        failing=Failing(),
        raises=(RowFault.ZERO_INDEX,),
    ),
    Function(
        "ZIP_WITH",
        ("(ARRAY<T>, ARRAY<U>, (T, U) -> V) -> ARRAY<V>",),
        "two arrays joined element by element",
        ("ZIP_WITH(ARRAY(1, 2), ARRAY(3, 4), (x, y) -> x + y)", [4, 6]),
    ),
)
