"""DISTINCT aggregates -> the set of a group's values, and array functions over it: Spark has no DISTINCT on streams.

The results equal the results of Spark's own aggregates, to the type and the last digit. COLLECT_SET leaves NULLs out
and holds one NaN and one zero.
"""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from penstock.codegen.sql.decimals import EXACT_DIGITS, decimal_mean
from penstock.codegen.sql.trees import (
    both,
    call,
    cast,
    column,
    function,
    is_null,
    null,
    number,
    only_if,
    struct,
)
from penstock.planner.functions.facts import DistinctRule
from penstock.planner.plan import Aggregate, Expression
from penstock.planner.types import BIGINT, DOUBLE, Decimal, Type


def distinct_call(aggregate: Aggregate) -> Expression:
    """COUNT, SUM or AVG over the set of the group's values."""
    match aggregate.entry.distinct:
        case DistinctRule.COUNT:
            return cast(call("SIZE", _values(aggregate)), BIGINT)
        case DistinctRule.SUM:
            return _sum(_in_order(aggregate), _sum_type(aggregate), aggregate.type)
        case DistinctRule.MEAN:
            return _average(_in_order(aggregate), _sum_type(aggregate), aggregate.type)
        case DistinctRule.IDEMPOTENT | DistinctRule.COLLECT | None:
            raise AssertionError(f"{aggregate.function}(DISTINCT …)")
        case rule:
            assert_never(rule)


def _values(aggregate: Aggregate) -> Expression:
    """The set of the values of the rows in which no argument is NULL. Several arguments make a struct."""
    arguments = aggregate.arguments
    if len(arguments) == 1:
        collected, condition = call("COLLECT_SET", arguments[0]), aggregate.condition
    else:
        present = (exp.Not(this=is_null(each)) for each in arguments)
        collected, condition = call("COLLECT_SET", call("STRUCT", *arguments)), both(aggregate.condition, *present)
    if condition is None:
        return collected
    return exp.Filter(this=collected, expression=exp.Where(this=condition))


def _in_order(aggregate: Aggregate) -> Expression:
    """The values. Floating ones are sorted, because their sum depends on the order, and a set has no fixed one."""
    values = _values(aggregate)
    return call("ARRAY_SORT", values) if aggregate.type == DOUBLE else values


def _sum_type(aggregate: Aggregate) -> Type:
    """The type in which the aggregate adds up, as in Spark: averages of whole numbers are added as DOUBLE."""
    if not isinstance(aggregate.type, Decimal):
        return aggregate.type
    # AVG has four more decimals than its argument.
    is_sum = aggregate.entry.distinct is DistinctRule.SUM
    return Decimal(EXACT_DIGITS, aggregate.type.scale - (0 if is_sum else 4))


def _sum(values: Expression, held: Type, result: Type) -> Expression:
    """NULL over no values."""

    def add(total: str, value: str) -> Expression:
        taken = cast(column(value), held)
        added = cast(exp.Add(this=column(total), expression=taken), held)
        return call("COALESCE", added, taken.copy())

    total = call("AGGREGATE", values, null(held), function("total", "value", body=add))
    return total if held == result else cast(total, result)


def _average(values: Expression, held: Type, result: Type) -> Expression:
    def add(state: str, value: str) -> Expression:
        total = exp.Add(this=column(state, "total"), expression=cast(column(value), held))
        counted = exp.Add(this=column(state, "count"), expression=number(1))
        return struct(total=cast(total, held), count=counted)

    def divide(state: str) -> Expression:
        total, count = column(state, "total"), column(state, "count")
        mean = (
            decimal_mean(total, count, result) if isinstance(result, Decimal) else exp.Div(this=total, expression=count)
        )
        return only_if(exp.GT(this=count.copy(), expression=number(0)), mean)

    nothing = struct(total=cast(number(0), held), count=number(0))
    finish = function("state", body=divide)
    return call("AGGREGATE", values, nothing, function("state", "value", body=add), finish)
