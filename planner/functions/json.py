"""Functions of JSON texts."""

from __future__ import annotations

from penstock.planner.functions.function import Function

JSON = (
    Function(
        "GET_JSON_OBJECT",
        ("(STRING, STRING) -> STRING",),
        "what a path such as '$.a[0].b' leads to, as text",
        ("""GET_JSON_OBJECT('{"a": [1, 2]}', '$.a[1]')""", "2"),
    ),
    Function(
        "JSON_ARRAY_LENGTH",
        ("(STRING) -> INT",),
        "how many elements an array has",
        ("JSON_ARRAY_LENGTH('[1, 2, 3]')", 3),
    ),
    Function(
        "JSON_OBJECT_KEYS",
        ("(STRING) -> ARRAY<STRING>",),
        "the keys of an object",
        ("""JSON_OBJECT_KEYS('{"a": 1, "b": 2}')""", ["a", "b"]),
    ),
    Function(
        "TO_JSON",
        ("(STRUCT) -> STRING", "(ARRAY<T>) -> STRING", "(MAP<K, V>) -> STRING"),
        "a struct, array or map as JSON",
        ("TO_JSON(ARRAY(1, 2))", "[1,2]"),
    ),
)
