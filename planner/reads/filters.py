"""Conditions of a read -> comparisons of columns with literals that every database decides as Spark does.

Whole numbers and dates are compared. Texts are compared only for equality. A database may take more texts to be
equal, and Spark then leaves these out. But a database orders texts in a way of its own. Nothing else is asked of a
database.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date

from sqlglot import exp

from penstock.planner import scalars
from penstock.planner.plan import ColumnFilter, Expression
from penstock.planner.plan.column_filter import FilterValue
from penstock.planner.scalars.literals import bare
from penstock.planner.types import DATE, INTEGERS, STRING, Type

COMPARED: dict[type[exp.Expr], str] = {exp.EQ: "=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
SWAPPED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
LARGEST_BIGINT = 2**63 - 1


def find_column_filters(condition: Expression, types: Mapping[str, Type]) -> Iterator[ColumnFilter]:
    """The filters that a database can apply of a condition on its table. None, if they could leave out a wanted row.

    `types`: the columns of the table.
    """
    match bare(condition):
        case exp.Not() as negated:
            inner = negated.this.unnest()
            if is_null_test(inner):
                yield from filter_by_null_test(inner, "IS NOT NULL", types)
        case exp.Is() as test if is_null_test(test):
            yield from filter_by_null_test(test, "IS NULL", types)
        case exp.In() as member if member.expressions:
            yield from compare_column(member.this, "IN", member.expressions, types)
        case exp.Between() as between:
            yield from compare_column(between.this, ">=", [between.args["low"]], types)
            yield from compare_column(between.this, "<=", [between.args["high"]], types)
        case exp.Binary() as comparison if type(comparison) in COMPARED:
            sign = COMPARED[type(comparison)]
            yield from compare_column(comparison.this, sign, [comparison.expression], types)
            yield from compare_column(comparison.expression, SWAPPED[sign], [comparison.this], types)


def is_null_test(condition: Expression) -> bool:
    """Whether it is `… IS NULL`."""
    return isinstance(condition, exp.Is) and isinstance(condition.expression, exp.Null)


def filter_by_null_test(test: Expression, operator: str, types: Mapping[str, Type]) -> Iterator[ColumnFilter]:
    """A filter `column IS NULL` or `column IS NOT NULL`."""
    column = bare(test.this)
    if isinstance(column, exp.Column) and column.name in types:
        yield ColumnFilter(column.name, operator)


def compare_column(
    column: Expression, operator: str, others: list[Expression], types: Mapping[str, Type]
) -> Iterator[ColumnFilter]:
    """A filter that compares a column with literals of its type."""
    value, is_cast = bare(column), False
    while type(value) is exp.Cast and scalars.type_of(value.to, []) in INTEGERS:
        value, is_cast = bare(value.this), True
    if not isinstance(value, exp.Column) or value.name not in types:
        return
    type_ = types[value.name]
    if is_cast and type_ not in INTEGERS:
        return
    if type_ == STRING and operator not in ("=", "IN"):
        return
    read = [read_literal(each, type_) for each in others]
    known = tuple(each for each in read if each is not None)
    if len(known) == len(read):
        yield ColumnFilter(value.name, operator, known)


def read_literal(expression: Expression, type_: Type) -> FilterValue | None:
    """The value of a literal of a type, None if it is something else."""
    value = bare(expression)
    casts = []
    while type(value) is exp.Cast:
        casts.append(scalars.type_of(value.to, []))
        value = bare(value.this)
    sign = -1 if isinstance(value, exp.Neg) else 1
    value = bare(value.this) if isinstance(value, exp.Neg) else value
    if not isinstance(value, exp.Literal):
        return None
    if type_ in INTEGERS and not value.is_string and re.fullmatch("[0-9]{1,19}", value.name):
        number = sign * int(value.name)
        return number if all(each in INTEGERS for each in casts) and abs(number) <= LARGEST_BIGINT else None
    if not value.is_string or sign < 0:
        return None
    if type_ == STRING and not casts and "\0" not in value.name:
        return value.name
    if type_ == DATE and casts == [DATE] and re.fullmatch(r"\d{4}-\d\d-\d\d", value.name):
        try:
            return date.fromisoformat(value.name)
        except ValueError:  # such as the year 0000
            return None
    return None
