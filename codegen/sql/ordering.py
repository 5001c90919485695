"""The order of rows with equal event times: by all columns, so that the order of arrival does not matter."""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.sql.trees import call, cast, column, function, is_null, number, only_if, struct, struct_of
from penstock.planner.plan import Expression
from penstock.planner.types import DOUBLE, FLOAT, Array, Map, Struct, Type


def comparable(value: Expression, type_: Type, depth: int = 0) -> Expression:
    """A value that DuckDB orders as Spark orders the original. NULL comes first, also inside nested values.

    Spark neither orders nor compares maps. A map becomes its entries, sorted by key, so that equal maps are equal.
    """
    match type_:
        case Struct(fields):
            parts = [exp.Dot(this=value, expression=exp.Identifier(this=name, quoted=True)) for name, _ in fields]
            compared = [
                _compare_unless_null(part.copy(), each, depth) for part, (_, each) in zip(parts, fields, strict=True)
            ]
            whole = struct_of((f"f{place}", part) for place, part in enumerate(compared))
            return only_if(exp.Not(this=is_null(value.copy())), whole)
        case Array(element):
            each = function(f"x{depth}", body=lambda name: _compare_unless_null(column(name), element, depth + 1))
            return call("TRANSFORM", value, each)
        case Map(key_type, value_type):
            entries = Array(Struct((("key", key_type), ("value", value_type))))
            return call("ARRAY_SORT", comparable(call("MAP_ENTRIES", value), entries, depth))
        case _:
            return value


def _compare_unless_null(value: Expression, type_: Type, depth: int) -> Expression:
    return struct(known=exp.Not(this=is_null(value)), value=comparable(value.copy(), type_, depth))


def make_zero_positive(value: Expression, type_: Type) -> Expression:
    """The value, 0 in the place of -0: the two are equal, and it must not matter which of them came last."""
    return exp.Add(this=value, expression=cast(number(0), type_)) if type_ in (FLOAT, DOUBLE) else value


def make_zeros_positive(value: Expression, type_: Type, depth: int = 0) -> Expression:
    """The same also for all numbers inside of the value."""
    match type_:
        case Array(element) if holds_zeros(element):
            each = function(f"x{depth}", body=lambda name: make_zeros_positive(column(name), element, depth + 1))
            return call("TRANSFORM", value, each)
        case Struct(fields) if holds_zeros(type_):
            parts = (
                (
                    name,
                    make_zeros_positive(
                        exp.Dot(this=value.copy(), expression=exp.Identifier(this=name, quoted=True)), each, depth
                    ),
                )
                for name, each in fields
            )
            return only_if(exp.Not(this=is_null(value)), struct_of(parts))
        case _:
            return make_zero_positive(value, type_)


def holds_zeros(type_: Type) -> bool:
    """Whether values of the type have numbers with two zeros inside."""
    match type_:
        case Array(element):
            return holds_zeros(element)
        case Struct(fields):
            return any(holds_zeros(each) for _, each in fields)
        case _:
            return type_ in (FLOAT, DOUBLE)


def holds_map(type_: Type) -> bool:
    """Whether values of the type are maps or contain them. Spark cannot compare these."""
    match type_:
        case Array(element):
            return holds_map(element)
        case Struct(fields):
            return any(holds_map(each) for _, each in fields)
        case _:
            return isinstance(type_, Map)
