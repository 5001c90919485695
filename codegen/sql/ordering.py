"""The order of rows that no event time tells apart: that of all their columns, so that any order of arrival will do."""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.sql.trees import call, column, function, is_null, only_if, struct, struct_of
from penstock.planner.plan import Expression
from penstock.planner.types import Array, Map, Struct, Type


def comparable(value: Expression, type_: Type, depth: int = 0) -> Expression:
    """A value that DuckDB orders as Spark orders the original: inside of nested ones, too, NULL is before all else.

    Maps, which Spark neither orders nor compares, become their entries in the order of the keys: equal ones are equal.
    """
    match type_:
        case Struct(fields):
            parts = [exp.Dot(this=value, expression=exp.Identifier(this=name, quoted=True)) for name, _ in fields]
            known = [
                _compare_unless_null(part.copy(), each, depth) for part, (_, each) in zip(parts, fields, strict=True)
            ]
            whole = struct_of((f"f{place}", part) for place, part in enumerate(known))
            return only_if(exp.Not(this=is_null(value.copy())), whole)
        case Array(element):
            each = function(f"x{depth}", body=lambda name: _compare_unless_null(column(name), element, depth + 1))
            return call("TRANSFORM", value, each)
        case Map(key, held):
            entries = Array(Struct((("key", key), ("value", held))))
            return call("ARRAY_SORT", comparable(call("MAP_ENTRIES", value), entries, depth))
        case _:
            return value


def _compare_unless_null(value: Expression, type_: Type, depth: int) -> Expression:
    return struct(known=exp.Not(this=is_null(value)), value=comparable(value.copy(), type_, depth))


def holds_map(type_: Type) -> bool:
    """Whether values of the type hold maps, which Spark does not compare."""
    match type_:
        case Array(element):
            return holds_map(element)
        case Struct(fields):
            return any(holds_map(each) for _, each in fields)
        case _:
            return isinstance(type_, Map)
