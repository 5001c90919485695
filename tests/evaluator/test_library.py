"""Edges of the functions that Python's library states, as Spark has them."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest

from penstock.evaluator.library import LIBRARY, LIBRARY_NULL_AWARE
from penstock.evaluator.typed_values import QueryFailure, Unsupported

CASES: list[tuple[str, tuple[Any, ...], Any]] = [
    ("SPLIT_PART", ("a.b", ".", -1), "b"),
    ("SPLIT_PART", ("a.b", ".", 3), ""),
    ("SUBSTRING_INDEX", ("a.b.c", ".", -2), "b.c"),
    ("SUBSTRING_INDEX", ("a.b", ".", 5), "a.b"),
    ("LOCATE", ("b", "abc", 0), 0),
    ("LOCATE", ("", "abc", 5), 1),
    ("RIGHT", ("abc", 0), ""),
    ("TRANSLATE", ("abca", "ab", "x"), "xcx"),
    ("REGEXP_EXTRACT", ("abc", "(x)?b"), ""),
    ("REGEXP_SUBSTR", ("abc", "z"), None),
    ("ADD_MONTHS", (date(2024, 3, 31), -1), date(2024, 2, 29)),
    ("DATE_ADD", (datetime(2024, 2, 28, 23), 1), date(2024, 2, 29)),
    ("DATE_FORMAT", (datetime(24, 3, 5, 6, 7, 8), "yyyy-MM-dd HH:mm:ss"), "0024-03-05 06:07:08"),
    ("WEEKOFYEAR", (date(2021, 1, 1),), 53),
    ("MOD", (-7, -3), -1),
    ("LN", (0,), None),
    ("ARRAY_CONTAINS", ([1, None], 2), None),
    ("ARRAY_MAX", ([None, 1],), 1),
    ("ARRAY_MIN", ([],), None),
    ("SORT_ARRAY", ([2, None, 1], False), [2, 1, None]),
    ("FLATTEN", ([[1], None],), None),
    ("ELEMENT_AT", ({"a": 1}, "b"), None),
    ("GET", ([1], -1), None),
    ("RINT", (3.5,), 4.0),
]


@pytest.mark.parametrize(("name", "arguments", "value"), CASES)
def test_edges(name: str, arguments: tuple[Any, ...], value: Any) -> None:
    assert LIBRARY[name](*arguments) == value


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("SPLIT_PART", ("a", ".", 0)),
        ("ELEMENT_AT", ([1], 2)),
        ("ELEMENT_AT", ([1], 0)),
        ("MOD", (1, 0)),
        ("MAKE_DATE", (2023, 2, 29)),
    ],
)
def test_failures(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(QueryFailure):
        LIBRARY[name](*arguments)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("REGEXP_LIKE", ("a", "(?<x>a)")),
        ("REGEXP_LIKE", ("a", r"\p{L}")),
        ("REGEXP_LIKE", ("a", "a++")),
        ("REGEXP_LIKE", ("a", "[a&&[b]]")),
        ("REGEXP_REPLACE", ("a", "a", "$1")),
        ("SPLIT", ("a,b", "(,)")),
        ("DATE_FORMAT", (date(2024, 1, 1), "EEE")),
    ],
)
def test_what_is_not_known_is_not_guessed(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(Unsupported):
        LIBRARY[name](*arguments)


def test_null_has_a_meaning() -> None:
    assert LIBRARY_NULL_AWARE["NVL2"](iter([None, 1, 2])) == 2
    assert LIBRARY_NULL_AWARE["EQUAL_NULL"](iter([None, None])) is True
    assert LIBRARY_NULL_AWARE["ARRAY_APPEND"](iter([[1], None])) == [1, None]
    assert LIBRARY_NULL_AWARE["ARRAY_APPEND"](iter([None, 1])) is None
    assert LIBRARY_NULL_AWARE["ZEROIFNULL"](iter([None])) == 0
