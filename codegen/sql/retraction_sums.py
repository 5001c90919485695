"""GroupAggregate over a table -> counts and exact sums that rows can leave, and the aggregates that follow from them.

A row that leaves is added with its values negated. Counts are BIGINT and sums are DECIMAL, in which nothing rounds,
so that no trace of it stays. A group without rows stays in the state, but not in the table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from sqlglot import exp

from penstock.codegen.program import View
from penstock.codegen.sql.decimals import EXACT_DIGITS, decimal_mean
from penstock.codegen.sql.latest_views import count_arrivals
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.row_forms import DELETED, DELTA, ORDER, group_by_key, key_columns, key_value, own_key
from penstock.codegen.sql.trees import alias, both, call, cast, column, either, is_null, number, only_if, select
from penstock.planner import find_argument_type
from penstock.planner.functions.facts import Retraction
from penstock.planner.plan import Aggregate, Expression, GroupAggregate, Node
from penstock.planner.types import BIGINT, DOUBLE, Decimal, Type

_ROWS = "_rows"


def retraction_views(node: GroupAggregate, name: str, source: str) -> tuple[View, View]:
    """Moves -> results."""
    key = key_value(each.value for each in node.keys)
    sums = Sums({_ROWS: (column(DELTA), BIGINT)})
    values = [
        alias(sums.compute(each, str(place), node.input), each.name) for place, each in enumerate(node.aggregates)
    ]
    totals = (alias(call("SUM", value), each) for each, (value, _) in sums.parts.items())
    tree = group_by_key([*totals, count_arrivals()], source, key)
    table = View(f"{name}_sums", print_sql(tree))
    # The one group of a whole table is there from its first row on, and stays.
    empty = exp.EQ(this=column(_ROWS if node.keys else ORDER), expression=number(0))
    keys = key_columns(len(node.keys))
    items = [*(alias(part, each.name) for part, each in zip(keys, node.keys, strict=True)), *values]
    own = [*own_key(key), column(ORDER), alias(empty, DELETED)]
    return table, View(name, print_sql(select([*items, *own], table.name)))


@dataclass(slots=True)
class Sums:
    """What is added up for the aggregates of a group. Rows that leave are added with their values negated."""

    parts: dict[str, tuple[Expression, Type]] = field(default_factory=dict)
    """By their names the values that are added up over the deltas, and the types of the sums."""

    def compute(self, aggregate: Aggregate, suffix: str, below: Node) -> Expression:
        """The aggregate computed from sums, whose names end in `suffix`. `below` is the node that is aggregated."""
        condition, arguments, retraction = aggregate.condition, aggregate.arguments, aggregate.entry.retraction
        assert retraction is not None, f"{aggregate.function} over a table"

        def total(part: str, value: Expression, type_: Type = BIGINT) -> Expression:
            self.parts[f"_{part}{suffix}"] = value, type_
            return column(f"_{part}{suffix}")

        known = both(condition, *(exp.Not(this=is_null(each)) for each in arguments))
        counted = total("count", column(DELTA) if known is None else _signs_if(known))
        # SUM is NULL if there are no rows.
        count = call("COALESCE", counted, number(0))

        def add_trues() -> Expression:
            true = both(condition, arguments[0])
            assert true is not None
            return call("COALESCE", total("trues", _signs_if(true)), number(0))

        def add_up() -> tuple[Expression, Decimal | None]:
            """The sum of the values, and the type in which they are exact."""
            exact = _exact(find_argument_type(aggregate, below))
            value = arguments[0] if exact is None else cast(_uncast(arguments[0]), exact)
            held = aggregate.type if exact is None else _widen(exact)
            return total("sum", only_if(condition, _apply_delta(value)), held), exact

        def spread(left_out: int, *, is_deviation: bool) -> Expression:
            """The variance with the divisor n - `left_out`, or its root."""
            summed, exact = add_up()
            assert exact is not None, f"{aggregate.function} over a table of what is no decimal"
            value = cast(_uncast(arguments[0]), exact)
            square = exp.Mul(this=value, expression=value.copy())
            wide = _widen(Decimal(2 * exact.precision + 1, 2 * exact.scale))
            squares = total("squares", only_if(condition, _apply_delta(square)), wide)
            return _variance(left_out, count, summed, squares, exact, is_deviation=is_deviation)

        match retraction:
            case Retraction.COUNT:
                return count
            case Retraction.COUNT_IF:
                return add_trues()
            case Retraction.ALL:
                return only_if(_positive(count.copy()), exp.EQ(this=add_trues(), expression=count))
            case Retraction.SOME:
                return only_if(_positive(count), exp.GT(this=add_trues(), expression=number(0)))
            case Retraction.SUM:
                summed, exact = add_up()
                return only_if(_positive(count), summed if exact is None else cast(summed, aggregate.type))
            case Retraction.MEAN:
                summed, exact = add_up()
                assert exact is not None, f"{aggregate.function} over a table of what is no decimal"
                return only_if(_positive(count), _mean(summed, count.copy(), exact, aggregate.type))
            case Retraction.VAR_POP:
                return spread(0, is_deviation=False)
            case Retraction.VAR_SAMP:
                return spread(1, is_deviation=False)
            case Retraction.STDDEV_POP:
                return spread(0, is_deviation=True)
            case Retraction.STDDEV_SAMP:
                return spread(1, is_deviation=True)
            case Retraction.MIN | Retraction.MAX | Retraction.MIN_BY | Retraction.MAX_BY:
                raise AssertionError(f"{aggregate.function} keeps its values")
            case Retraction.BITS | Retraction.PARITY | Retraction.COLLECT:
                raise AssertionError(f"{aggregate.function} keeps its values")
            case _:
                assert_never(retraction)


def _widen(type_: Decimal) -> Decimal:
    """The type of Spark's sums of such numbers."""
    return Decimal(min(type_.precision + 10, 38), type_.scale)


def _signs_if(condition: Expression) -> Expression:
    return either(condition, column(DELTA), cast(number(0), BIGINT))


def _apply_delta(value: Expression) -> Expression:
    comes = exp.GT(this=column(DELTA), expression=number(0))
    return either(comes, value, exp.Neg(this=exp.Paren(this=value.copy())))


def _positive(count: Expression) -> Expression:
    return exp.GT(this=count, expression=number(0))


def _exact(type_: Type) -> Decimal | None:
    """The type that holds values of a type as decimals; None if it is no whole number or decimal."""
    if isinstance(type_, Decimal):
        return type_
    digits = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}.get(str(type_))
    return None if digits is None else Decimal(digits, 0)


def _uncast(value: Expression) -> Expression:
    """The value before it was made a DOUBLE, as the planner does for aggregates of DOUBLE."""
    double = exp.DataType.build(str(DOUBLE), dialect="spark")
    while isinstance(value, exp.Cast) and value.to == double:
        value = value.this
    return value


def _mean(total: Expression, count: Expression, exact: Decimal, result: Type) -> Expression:
    if isinstance(result, Decimal):
        return decimal_mean(cast(total, Decimal(EXACT_DIGITS, exact.scale)), count, result)
    return exp.Div(this=cast(total, DOUBLE), expression=cast(count, DOUBLE))


def _variance(
    left_out: int, count: Expression, total: Expression, squares: Expression, exact: Decimal, *, is_deviation: bool
) -> Expression:
    """From the sums of the values x and their squares, with m, the mean rounded to the decimals that x has.

    The sum of (x - m)² is computed as a decimal, exactly. The sum of (x - m)² is computed as a decimal, exactly. It is
    at least twice as large as what remains, (total - n·m)² / n, because |mean - m| is at most half a last decimal. So
    no digits are lost where the two are subtracted.
    """
    digits, scale = exact.precision, exact.scale
    held, wide = Decimal(digits + 10, scale), Decimal(2 * digits + 11, 2 * scale)
    rows = cast(count, Decimal(10, 0))
    mean = cast(exp.Div(this=total, expression=rows), exact)
    rest = exp.Sub(this=total.copy(), expression=exp.Mul(this=rows.copy(), expression=mean))
    doubled = cast(exp.Add(this=total.copy(), expression=rest), held)
    product = cast(exp.Mul(this=mean.copy(), expression=doubled), wide)
    around = cast(exp.Sub(this=cast(squares, wide), expression=product), DOUBLE)
    part = cast(rest.copy(), DOUBLE)
    beside = exp.Div(this=exp.Mul(this=part, expression=part.copy()), expression=cast(count.copy(), DOUBLE))
    divisor = exp.Sub(this=count.copy(), expression=number(left_out))
    variance = exp.Div(this=exp.Sub(this=around, expression=beside), expression=cast(divisor, DOUBLE))
    result = call("SQRT", variance) if is_deviation else variance
    return only_if(exp.GT(this=count.copy(), expression=number(left_out)), result)
