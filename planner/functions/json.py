"""Functions of JSON and CSV texts, and of types."""

from __future__ import annotations

from sqlglot import exp

from penstock.planner.functions.function import Function
from penstock.planner.types import Array, Map, Struct


def _write_json(arguments: tuple[exp.Expression, ...]) -> exp.Expression:
    """TO_JSON of a value. Spark writes no single values, but arrays of them, and none begins or ends with a bracket."""
    (value,) = arguments
    is_cast_nested = isinstance(value, exp.Cast) and value.to.args.get("nested")
    if is_cast_nested or isinstance(value.meta.get("type"), Array | Map | Struct):
        return exp.Anonymous(this="TO_JSON", expressions=[value])
    array = exp.Anonymous(this="TO_JSON", expressions=[exp.Anonymous(this="ARRAY", expressions=[value])])
    single = exp.Anonymous(this="BTRIM", expressions=[array, exp.Literal.string("[]")])
    return exp.Anonymous(this="NULLIF", expressions=[single, exp.Literal.string("null")])


_SINGLE = ("N", "BOOLEAN", "STRING", "BINARY", "DATE", "TIMESTAMP", "TIME")

JSON = (
    Function(
        "FROM_JSON",
        ("(STRING, SCHEMA) -> STRUCT",),
        "JSON as a struct or an array of the types that a literal names; what is no such value is NULL",
        ("""FROM_JSON('{"a": 1, "b": [2, 3]}', 'a INT, b ARRAY<BIGINT>').b[1]""", 3),
    ),
    Function(
        "FROM_CSV",
        ("(STRING, FLAT_SCHEMA) -> STRUCT",),
        "a line of CSV as a struct of the types that a literal names; what is no such value is NULL",
        ("FROM_CSV('1,x', 'a INT, b STRING').b", "x"),
    ),
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
        tuple(f"({each}) -> STRING" for each in ("STRUCT", "ARRAY<T>", "MAP<K, V>", *_SINGLE)),
        "a value as JSON; NULL stays NULL",
        ("TO_JSON(ARRAY(1, 2))", "[1,2]"),
        form=_write_json,
    ),
)
