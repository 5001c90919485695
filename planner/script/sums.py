"""Updates that only add to what the present row has: a database can do that, so that nobody has to read the row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from penstock.planner.plan import ColumnSums, Expression, Named
from penstock.planner.plan.reserved import choose_unused_name
from penstock.planner.scalars.common_types import type_of
from penstock.planner.scalars.failing import NoExactFormError, try_expression
from penstock.planner.types import INTEGERS, Decimal, Type

MOST_DIGITS = 37
"""The largest precision of an exact sum of decimals. With 38 of them Spark may have rounded it."""


def find_sums(
    assignments: Sequence[Named],
    default: Sequence[Named] | None,
    current: Mapping[str, str],
    names: Mapping[str, str],
) -> tuple[ColumnSums | None, list[Named]]:
    """How an update adds to the present row, and the columns that the query needs for it beside its own.

    None where it does something else, or where a value may fail: that is computed for no other row than it has to be.
    `current`: the names of the columns of the present row -> their names in the table. `names`: the names of the
    stream's columns -> their names in the query.
    """
    more: list[Named] = []

    def name_value(kind: str, each: Named, value: Expression) -> tuple[str, str]:
        """The column of the table, and the one of the query that has the value."""
        if isinstance(value, exp.Column):
            return each.name, names[value.name]
        taken = (*names.values(), *(other.name for other in more))
        name = choose_unused_name(f"_{kind}.{each.name}", taken)
        more.append(Named(name, value, find_type(value) or each.type))
        return each.name, name

    added: list[tuple[str, str]] = []
    subtracted: list[tuple[str, str]] = []
    assigned: list[tuple[str, str]] = []
    for each in assignments:
        addend = find_addend(each, current)
        value = each.value if addend is None else addend
        if not is_safe(value, current):
            return None, []
        pairs = assigned if addend is None else subtracted if isinstance(sum_of(each), exp.Sub) else added
        pairs.append(name_value("set" if addend is None else "add", each, value))
    if not all(is_safe(each.value, current) for each in default or ()):
        return None, []
    inserted = [name_value("else", each, each.value) for each in default or ()]
    computed = tuple(each.name for each in more)
    return ColumnSums(tuple(added), tuple(subtracted), tuple(assigned), tuple(inserted), computed), more


def find_addend(assigned: Named, current: Mapping[str, str]) -> Expression | None:
    """What is added to the column that is set, or subtracted; None where it is set in another way."""
    value = sum_of(assigned)

    def is_own(node: Expression) -> bool:
        return isinstance(node, exp.Column) and current.get(node.name) == assigned.name

    if not isinstance(value, exp.Add | exp.Sub):
        return None
    terms: list[Expression] = [value.this, value.expression]
    if is_own(terms[0]):
        return terms[1]
    return terms[0] if isinstance(value, exp.Add) and is_own(terms[1]) else None


def find_type(value: Expression) -> Type | None:
    """The type of a value, None if it is not noted."""
    noted: Type | None = value.meta.get("type")
    return type_of(value.to, []) if noted is None and isinstance(value, exp.Cast) else noted


def sum_of(assigned: Named) -> Expression | None:
    """The sum or difference that a column is set to, None where it is something else or may be rounded."""
    value: Expression = assigned.value
    type_ = assigned.type
    if isinstance(type_, Decimal):
        # A sum has a digit more than what is added.
        whole: Expression = value.this if isinstance(value, exp.Cast) else value
        own = whole.meta.get("type")
        return whole if isinstance(own, Decimal) and own.scale == type_.scale and own.precision <= MOST_DIGITS else None
    return value if type_ in INTEGERS else None


def is_safe(value: Expression, current: Mapping[str, str]) -> bool:
    """Whether a value needs nothing of the present row, and never fails."""
    if any(each.name in current for each in value.find_all(exp.Column)):
        return False
    try:
        return not try_expression(value).failures
    except NoExactFormError:
        return False
