"""Aggregates over groups -> aggregates of DuckDB."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from penstock.codegen.local_reads.duckdb_expressions import LocalScope, UnknownError, cast, lower
from penstock.codegen.sql.trees import call, filter_rows, number, only_if
from penstock.planner.functions.facts import Retraction
from penstock.planner.plan import Aggregate, Expression
from penstock.planner.types import BIGINT, BOOLEAN, DOUBLE, INTEGERS, Decimal

_OVERFLOWS = 1 << 10
"""Times this a number overflows BIGINT from 2 ** 53 on: below that, Spark's sums, which are DOUBLE, are exact."""


def lower_aggregate(aggregate: Aggregate, scope: LocalScope) -> Expression:
    """The aggregate for DuckDB.

    Raises:
        UnknownError: it is not known to mean the same there.
    """
    values = [lower(each, scope) for each in aggregate.arguments]
    condition = None if aggregate.condition is None else lower(aggregate.condition, scope, BOOLEAN)[0]

    def over_rows(function: str, *arguments: Expression) -> Expression:
        given = [exp.Distinct(expressions=list(arguments))] if aggregate.distinct else list(arguments)
        made = call(function, *given)
        return made if condition is None else filter_rows(made, condition.copy())

    match aggregate.entry.retraction, values:
        case Retraction.COUNT, []:
            return over_rows("COUNT", exp.Star())
        case Retraction.COUNT, [(value, _)]:
            return over_rows("COUNT", value)
        case Retraction.SUM, [(value, type_)] if type_ in INTEGERS or isinstance(type_, Decimal):
            return cast(over_rows("SUM", value), aggregate.type)
        case Retraction.MEAN, [(value, type_)] if type_ in INTEGERS and aggregate.type == DOUBLE:
            return _mean(over_rows, value)
        case ((Retraction.MIN | Retraction.MAX), [(value, type_)]) if type_ == aggregate.type:
            return over_rows(aggregate.function, value)
    raise UnknownError


def _mean(over_rows: Callable[..., Expression], value: Expression) -> Expression:
    """The mean of whole numbers, or an error where Spark's sum of them may not be exact."""
    size = over_rows("SUM", call("ABS", value.copy()))
    product = exp.Mul(this=size, expression=cast(number(_OVERFLOWS), BIGINT))
    is_exact = exp.GTE(this=cast(product, BIGINT), expression=number(0))
    total, count = over_rows("SUM", value), over_rows("COUNT", value.copy())
    return only_if(is_exact, exp.Div(this=cast(total, DOUBLE), expression=cast(count, DOUBLE)))
