"""The order of rows that no event time tells apart: that of all their columns, so that any order of arrival will do."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from penstock.codegen.sql.trees import call, column, function, is_null, number, only_if, struct, struct_of
from penstock.planner.plan import Expression
from penstock.planner.types import Array, Map, Struct, Type

Field = tuple[str, Type]


def sorted_rows(rows: Expression, fields: Iterable[Field], time: str | None = None) -> Expression:
    """The array of structs, sorted by the field `time`, which is never NULL, and then by `fields`, NULL first."""
    compared = tuple(fields)

    def key(row: str) -> Expression:
        # Structs are compared with their NULLs.
        return struct_of((name, _orderly(column(row, name), type_)) for name, type_ in compared)

    def order(one: str, other: str) -> Expression:
        pairs = [(key(one), key(other))]
        if time is not None:
            pairs.insert(0, (column(one, time), column(other, time)))
        ways = ((exp.LT, -1), (exp.GT, 1))
        ifs = [
            exp.If(this=way(this=left.copy(), expression=right.copy()), true=number(answer))
            for left, right in pairs
            for way, answer in ways
        ]
        return exp.Case(ifs=ifs, default=number(0))

    return call("ARRAY_SORT", rows, function("one", "other", body=order))


def _orderly(value: Expression, type_: Type) -> Expression:
    """A value that Spark can compare: itself, or its text as JSON if it holds maps, which have no order."""
    return call("TO_JSON", struct_of([("value", value)])) if holds_map(type_) else value


def holds_map(type_: Type) -> bool:
    """Whether values of the type hold maps, which have no order."""
    match type_:
        case Array(element):
            return holds_map(element)
        case Struct(fields):
            return any(holds_map(each) for _, each in fields)
        case _:
            return isinstance(type_, Map)


def comparable(value: Expression, type_: Type, depth: int = 0) -> Expression:
    """A value that DuckDB orders as Spark orders the original: inside of nested ones, too, NULL is before all else."""
    if holds_map(type_):
        return _orderly(value, type_)
    match type_:
        case Struct(fields):
            parts = [exp.Dot(this=value, expression=exp.Identifier(this=name, quoted=True)) for name, _ in fields]
            known = [_known(part.copy(), each, depth) for part, (_, each) in zip(parts, fields, strict=True)]
            whole = struct_of((f"f{place}", part) for place, part in enumerate(known))
            return only_if(exp.Not(this=is_null(value.copy())), whole)
        case Array(element):
            each = function(f"x{depth}", body=lambda name: _known(column(name), element, depth + 1))
            return call("TRANSFORM", value, each)
        case _:
            return value


def _known(value: Expression, type_: Type, depth: int) -> Expression:
    return struct(known=exp.Not(this=is_null(value)), value=comparable(value.copy(), type_, depth))
