"""Aggregates over a table: how a row can be taken out of each of them again.

A change takes the row before out of its group and puts the row after into its own. Counts and exact sums allow that. A
minimum does not, because it has forgotten the next value. Nor do sums of FLOAT and DOUBLE, because they round. For
these the different values of a group are kept, each with the number of its rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.event_time import W010
from penstock.diagnostics.codes.kinds import K019
from penstock.planner import scalars
from penstock.planner.functions import FUNCTIONS
from penstock.planner.functions.facts import Retraction
from penstock.planner.plan import Aggregate, Node
from penstock.planner.scalars.find_type import find_type
from penstock.planner.types import BIGINT, DOUBLE, INTEGERS, INTERVAL, MEAN_SCALE, Decimal, Type

DIGITS = 13
"""Numbers with at most so many digits have an exact sum of squares in a DECIMAL.

So all that is computed from it is exact.
"""


def choose_retractions(aggregates: Sequence[Aggregate], node: Node, spans: Sequence[Span]) -> tuple[Aggregate, ...]:
    """The aggregates over the table `node`, marked where their values have to be kept.

    Raises:
        CompileError: rows cannot be taken out of an aggregate again.
    """
    chosen = tuple(replace(each, keeps_values=keeps_values(each, node)) for each in aggregates)
    with_values = any(each.keeps_values for each in chosen)
    refusals = (
        find_unretractable(each, node, span, with_values=with_values) for each, span in zip(chosen, spans, strict=True)
    )
    findings = [each for each in refusals if each is not None]
    if findings:
        raise CompileError(findings)
    return chosen


def choose_mergeable(aggregates: Sequence[Aggregate], node: Node, spans: Sequence[Span]) -> tuple[Aggregate, ...]:
    """The aggregates over changing sessions of the stream `node`, as `choose_retractions` does it over a table.

    When sessions become one, its aggregates follow from the counts, sums and values of each.

    Raises:
        CompileError: an aggregate does not follow from these.
    """
    findings = []
    for each, span in zip(aggregates, spans, strict=True):
        if not is_mergeable(each, node):
            found = W010.at(span, "", found=f"{each.function} over SESSION windows")
            found = found.because("When sessions become one, it would have to be computed anew from all of their rows.")
            findings.append(found.with_hint("EMIT FINAL, or SELECT STREAM"))
    if findings:
        raise CompileError(findings)
    return tuple(replace(each, keeps_values=keeps_values(each, node)) for each in aggregates)


def is_mergeable(aggregate: Aggregate, node: Node) -> bool:
    """Whether the value over two sessions together follows from what is kept of each."""
    retraction = aggregate.entry.retraction
    if retraction is None:
        return False
    if retraction.is_counted or retraction.needs_values or aggregate.distinct:
        return True
    # DuckDB adds up, and has no intervals like Spark's.
    return find_argument_type(aggregate, node) != INTERVAL and not is_too_fine(aggregate)


def keeps_values(aggregate: Aggregate, node: Node) -> bool:
    """Whether no counts and no exact sums give the value when a row has left."""
    retraction = aggregate.entry.retraction
    if aggregate.distinct or retraction is None:
        return aggregate.distinct
    if retraction.is_counted or retraction.needs_values:
        return retraction.needs_values
    type_ = find_argument_type(aggregate, node)
    if not is_exact(type_):
        return type_ != INTERVAL
    is_wide = type_ == BIGINT or (isinstance(type_, Decimal) and type_.precision > DIGITS)
    return retraction.adds_squares and is_wide


def find_unretractable(aggregate: Aggregate, node: Node, span: Span, *, with_values: bool) -> Diagnostic | None:
    """What is wrong with one aggregate. `with_values`: some aggregate of the group keeps its values."""
    function, retraction = aggregate.function, aggregate.entry.retraction
    if retraction is None:
        found = K019.at(span, "", function=function)
        found = found.because("It would have to be computed anew from all rows of the group.")
        known = sorted(each.name for each in FUNCTIONS if each.retraction is not None)
        return found.with_hint(f"over a table there are {', '.join(known)}")
    if retraction.is_counted or retraction.needs_values or aggregate.distinct:
        return None
    type_ = find_argument_type(aggregate, node)
    is_interval_sum = type_ == INTERVAL and retraction is Retraction.SUM
    if is_interval_sum and with_values:
        found = B002.at(span, "", construct=f"{function} of {type_} beside an aggregate that keeps values")
        return found.with_hint("compute the two in tables of their own, and join these")
    if (type_ == INTERVAL and not is_interval_sum) or is_too_fine(aggregate):
        return B002.at(span, "", construct=f"{function} of {type_} over a table")
    return None


def is_too_fine(aggregate: Aggregate) -> bool:
    """Whether it is a mean with more decimals than can be divided exactly."""
    is_mean = aggregate.entry.retraction is Retraction.MEAN
    return is_mean and isinstance(aggregate.type, Decimal) and aggregate.type.scale > MEAN_SCALE


def find_argument_type(aggregate: Aggregate, node: Node) -> Type:
    """The type of the values that are added up. Exact numbers are taken before they are cast to DOUBLE."""
    (argument,) = aggregate.arguments
    inner = argument
    while isinstance(inner, exp.Cast) and inner.to == scalars.data_type(DOUBLE):
        inner = inner.this
    types = [type_ for each in (inner, argument) if (type_ := find_type(each, node)) is not None]
    return next((type_ for type_ in types if is_exact(type_)), types[-1] if types else aggregate.type)


def is_exact(type_: Type) -> bool:
    """Whether sums of that type are exact."""
    return type_ in INTEGERS or isinstance(type_, Decimal)
