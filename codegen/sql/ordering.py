"""The order of rows that no event time tells apart: that of all their columns, so that any order of arrival will do."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from penstock.codegen.sql.trees import call, column, function, number, struct_of
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
