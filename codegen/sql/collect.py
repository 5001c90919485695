"""Aggregates that collect -> the values of a group in an order that does not depend on the order in which rows came.

Without ORDER BY the least value comes first. With it, values that are equal in it come in their own order. The zeros of
floating numbers are made equal before, because the two are equal in every order.
"""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from penstock.codegen.sql.ordering import make_zeros_positive
from penstock.codegen.sql.trees import both, call, cast, column, function, is_null, number, struct_of
from penstock.planner.functions.facts import Collecting
from penstock.planner.plan import Aggregate, Expression, Sorting
from penstock.planner.types import STRING, Array, Type


def collect_call(aggregate: Aggregate) -> Expression:
    """What the aggregate gives over the rows of a group."""
    value = collected_value(aggregate)
    if aggregate.distinct:
        values = call("SORT_ARRAY", _filter(call("COLLECT_SET", value), aggregate.condition), _is_ascending(aggregate))
    elif aggregate.entry.collecting is Collecting.TOP:
        greatest = _filter(call("MAX_BY", value, value.copy(), aggregate.arguments[1]), aggregate.condition)
        return call("COALESCE", greatest, cast(call("ARRAY"), aggregate.type))
    elif aggregate.order_by:
        values = _in_order(aggregate, value)
    else:
        values = call("SORT_ARRAY", _filter(call("COLLECT_LIST", value), aggregate.condition))
    return finish_values(aggregate, values)


def collected_value(aggregate: Aggregate) -> Expression:
    """The value that is collected of each row."""
    return make_zeros_positive(aggregate.arguments[0], collected_type(aggregate))


def collected_type(aggregate: Aggregate) -> Type:
    """The type of the values."""
    return aggregate.type.element if isinstance(aggregate.type, Array) else STRING


def finish_values(aggregate: Aggregate, values: Expression) -> Expression:
    """What the aggregate makes of its values, which are in order."""
    match aggregate.entry.collecting:
        case Collecting.LIST:
            return values
        case Collecting.TEXT:
            some = call("NULLIF", values, cast(call("ARRAY"), Array(STRING)))
            return call("ARRAY_JOIN", some, aggregate.arguments[1])
        case Collecting.TOP:
            return call("SLICE", values, number(1), aggregate.arguments[1])
        case None:
            raise AssertionError(f"{aggregate.function} collects nothing")
        case collecting:
            assert_never(collecting)


def _is_ascending(aggregate: Aggregate) -> Expression:
    """Whether the least value comes first. Values that are there once have no other order than their own."""
    descending = aggregate.order_by[0].descending if aggregate.order_by else False
    is_top = aggregate.entry.collecting is Collecting.TOP
    return exp.Boolean(this=not (is_top or descending))


def _filter(collected: Expression, condition: Expression | None) -> Expression:
    return collected if condition is None else exp.Filter(this=collected, expression=exp.Where(this=condition))


def _in_order(aggregate: Aggregate, value: Expression) -> Expression:
    keys = ((f"k{place}", each.value) for place, each in enumerate(aggregate.order_by))
    rows = call("COLLECT_LIST", struct_of([*keys, ("value", value)]))
    is_there = exp.Not(this=is_null(value.copy()))
    order = function("l", "r", body=lambda left, right: _compare(aggregate.order_by, left, right))
    ordered = call("ARRAY_SORT", _filter(rows, both(aggregate.condition, is_there)), order)
    return call("TRANSFORM", ordered, function("x", body=lambda row: column(row, "value")))


def _compare(order_by: tuple[Sorting, ...], left: str, right: str) -> Expression:
    """-1, 0 or 1: which of two rows comes first."""
    branches: list[tuple[Expression, int]] = []
    for place, each in enumerate(order_by):
        one, other = column(left, f"k{place}"), column(right, f"k{place}")
        first = -1 if each.nulls_first else 1
        before = 1 if each.descending else -1
        branches += [
            (_and(is_null(one), exp.Not(this=is_null(other))), first),
            (_and(exp.Not(this=is_null(one.copy())), is_null(other.copy())), -first),
            (exp.LT(this=one.copy(), expression=other.copy()), before),
            (exp.GT(this=one.copy(), expression=other.copy()), -before),
        ]
    one, other = column(left, "value"), column(right, "value")
    branches += [(exp.LT(this=one, expression=other), -1), (exp.GT(this=one.copy(), expression=other.copy()), 1)]
    return exp.Case(ifs=[exp.If(this=when, true=number(then)) for when, then in branches], default=number(0))


def _and(one: Expression, other: Expression) -> Expression:
    return exp.And(this=one, expression=other)
