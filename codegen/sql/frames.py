"""An aggregate over a frame -> the value that it takes of each row, and array functions over a slice of these values.

The results are those of Spark's own aggregates, to the type and the last digit: NULLs do not count, an overflow fails.
"""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.sql.trees import (
    both,
    call,
    cast,
    column,
    either,
    function,
    is_null,
    null,
    number,
    only_if,
    struct,
)
from penstock.planner.plan import Aggregate, Expression
from penstock.planner.plan.over import OVER_FUNCTIONS
from penstock.planner.types import BIGINT, Decimal, Type

# Sums of decimals are held one digit short of the widest type, where Spark's addition is exact: the sum of two such
# numbers is a DECIMAL(38, s), while that of two DECIMAL(38, s) is rounded to fewer decimals. A larger sum fails.
_WIDEST = 37


def value_taken(aggregate: Aggregate) -> Expression | None:
    """What the aggregate takes of a row, NULL for a row that it leaves out; None if it takes all rows alike."""
    assert aggregate.function in OVER_FUNCTIONS, f"{aggregate.function} over a frame"
    assert not aggregate.distinct, "DISTINCT over a frame"
    condition = aggregate.condition
    if aggregate.function == "COUNT":
        present = (exp.Not(this=is_null(argument)) for argument in aggregate.arguments)
        counted = both(condition, *present)
        return None if counted is None else only_if(counted, exp.Boolean(this=True))
    value = only_if(condition, aggregate.arguments[0])
    return value if aggregate.function in ("MIN", "MAX") else cast(value, _held(aggregate))


def frame_value(aggregate: Aggregate, taken: str, frame: str, start: str) -> Expression:
    """The aggregate over the rows [frame.start, frame.past) of `pane`, whose field `taken` is the value taken."""
    length = exp.Sub(this=column(frame, "past"), expression=column(frame, start))
    if aggregate.function == "COUNT" and value_taken(aggregate) is None:
        return cast(length, BIGINT)
    begin = exp.Add(this=column(frame, start), expression=number(1))
    rows = call("SLICE", column("pane"), begin, length)
    values = exp.Dot(this=rows, expression=exp.Identifier(this=taken, quoted=True))
    match aggregate.function:
        case "COUNT":
            return cast(call("SIZE", call("ARRAY_COMPACT", values)), BIGINT)
        case "MIN":
            return call("ARRAY_MIN", values)
        case "MAX":
            return call("ARRAY_MAX", values)
        case "SUM":
            return _sum(values, _held(aggregate), aggregate.type)
        case _:
            return _average(values, _held(aggregate), aggregate.type)


def _held(aggregate: Aggregate) -> Type:
    """The type in which the aggregate adds up, as in Spark: averages of whole numbers are added as DOUBLE."""
    if not isinstance(aggregate.type, Decimal):
        return aggregate.type
    if aggregate.function == "SUM":
        return Decimal(_WIDEST, aggregate.type.scale)
    # AVG has four more decimals than its argument; were they cut off at 38, the argument's would not be known.
    assert aggregate.type.scale < 38, "AVG over a frame of numbers with more than 33 decimals"
    return Decimal(_WIDEST, aggregate.type.scale - 4)


def _sum(values: Expression, held: Type, result: Type) -> Expression:
    """NULL until the first value that is none."""

    def add(sum_: str, value: str) -> Expression:
        added = cast(exp.Add(this=column(sum_), expression=column(value)), held)
        return call("COALESCE", added, column(sum_), column(value))

    total = call("AGGREGATE", values, null(held), function("sum", "value", body=add))
    return total if held == result else cast(total, result)


def _average(values: Expression, held: Type, result: Type) -> Expression:
    def add(state: str, value: str) -> Expression:
        total = cast(exp.Add(this=column(state, "total"), expression=column(value)), held)
        counted = exp.Add(this=column(state, "count"), expression=number(1))
        return either(is_null(column(value)), column(state), struct(total=total, count=counted))

    def divide(state: str) -> Expression:
        total, count = column(state, "total"), column(state, "count")
        mean = (
            _decimal_mean(total, count, result)
            if isinstance(result, Decimal)
            else exp.Div(this=total, expression=count)
        )
        return only_if(exp.GT(this=count.copy(), expression=number(0)), mean)

    nothing = struct(total=cast(number(0), held), count=number(0))
    finish = function("state", body=divide)
    return call("AGGREGATE", values, nothing, function("state", "value", body=add), finish)


def _decimal_mean(total: Expression, count: Expression, result: Decimal) -> Expression:
    """The quotient, rounded once, half up, to the result's decimals.

    Spark's division of wide decimals drops decimals, so the whole part is divided out first: it is exact, and what
    remains has few digits before the point, which leaves division enough of them behind it.
    """
    divisor = cast(count, Decimal(10, 0))
    rest = exp.Mod(this=total, expression=divisor)
    whole = exp.Div(this=exp.Sub(this=total.copy(), expression=rest), expression=divisor.copy())
    part = exp.Div(this=rest.copy(), expression=divisor.copy())
    exact = Decimal(_WIDEST, result.scale)
    return cast(exp.Add(this=cast(whole, exact), expression=cast(part, exact)), result)
