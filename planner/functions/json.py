"""Functions of JSON and CSV texts, and of types."""

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
        "TO_CSV",
        ("(STRUCT) -> STRING",),
        "the fields of a struct as a line of CSV",
        ("TO_CSV(NAMED_STRUCT('a', 1, 'b', 'x,y'))", '1,"x,y"'),
    ),
    Function(
        "TYPEOF", ("(ANY) -> STRING",), "the name of the type, as Spark prints it", ("TYPEOF(ARRAY(1))", "array<int>")
    ),
    Function(
        "TO_JSON",
        ("(STRUCT) -> STRING", "(ARRAY<T>) -> STRING", "(MAP<K, V>) -> STRING"),
        "a struct, array or map as JSON",
        ("TO_JSON(ARRAY(1, 2))", "[1,2]"),
    ),
)
