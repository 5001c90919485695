"""Aggregates over a table: which of them a row can be taken out of again.

A change takes the row before out of its group and puts the row after into its own. Counts and exact sums allow that. A
minimum does not, because it has forgotten the next value. Nor do sums of FLOAT and DOUBLE, because they round.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.kinds import K019
from penstock.planner import scalars
from penstock.planner.functions import FUNCTIONS
from penstock.planner.functions.facts import DistinctRule, Retraction
from penstock.planner.plan import Aggregate, Node
from penstock.planner.scalars.names import Scope, ScopeColumn
from penstock.planner.types import BIGINT, DOUBLE, INTEGERS, INTERVAL, Decimal, Type

DIGITS = 13
"""Of numbers with so many digits the sum of squares is exact in a DECIMAL, and so is all that is computed from it."""


def check_retractable(aggregates: Sequence[Aggregate], node: Node, spans: Sequence[Span]) -> None:
    """Raises CompileError for an aggregate over the table `node` that does not come right when rows leave a group."""
    findings = (find_unretractable(each, node, span) for each, span in zip(aggregates, spans, strict=True))
    report = [each for each in findings if each is not None]
    if report:
        raise CompileError(report)


def find_unretractable(aggregate: Aggregate, node: Node, span: Span) -> Diagnostic | None:
    """What is wrong with one aggregate."""
    function = aggregate.function
    if aggregate.distinct:
        found = K019.at(span, "", function=f"{function}(DISTINCT …)")
        found = found.because("It would have to count the rows of each value.")
        return found.with_hint("count the rows by group and value in a subquery, and aggregate its result")
    retraction = aggregate.entry.retraction
    if retraction is None:
        found = K019.at(span, "", function=function)
        reason = "Only functions of counts and exact sums can retract a row."
        if aggregate.entry.distinct is DistinctRule.IDEMPOTENT:
            reason = "When the deciding row leaves the group, the next value is not known."
        known = sorted(each.name for each in FUNCTIONS if each.retraction is not None)
        return found.because(reason).with_hint(f"over a table there are {', '.join(known)}")
    if retraction.is_counted:
        return None
    type_ = find_argument_type(aggregate, node)
    found = K019.at(span, "", function=f"{function} of {type_}")
    if type_ == INTERVAL and retraction is Retraction.SUM:
        return None
    if type_ == INTERVAL or is_too_fine(aggregate):
        return B002.at(span, "", construct=f"{function} of {type_} over a table")
    if not is_exact(type_):
        found = found.because("Sums of FLOAT and DOUBLE round: a retracted row would leave a remainder.")
        return found.with_hint(f"CAST(… AS DECIMAL({DIGITS}, 4)), whose sums are exact")
    if retraction.adds_squares and (type_ == BIGINT or (isinstance(type_, Decimal) and type_.precision > DIGITS)):
        found = found.because(f"Squares of numbers with more than {DIGITS} digits cannot be added up exactly.")
        return found.with_hint(f"CAST(… AS INT), or AS DECIMAL({DIGITS}, 2), if the values fit")
    return None


def is_too_fine(aggregate: Aggregate) -> bool:
    """Whether it is a mean with more decimals than can be divided exactly."""
    is_mean = aggregate.entry.retraction is Retraction.MEAN
    return is_mean and isinstance(aggregate.type, Decimal) and aggregate.type.scale > 37


def find_argument_type(aggregate: Aggregate, node: Node) -> Type:
    """The type of the values that are added up. Exact numbers are taken before they are cast to DOUBLE."""
    (argument,) = aggregate.arguments
    inner = argument
    while isinstance(inner, exp.Cast) and inner.to == scalars.data_type(DOUBLE):
        inner = inner.this
    scope = Scope(tuple(ScopeColumn(None, c.name, c.name, c.type) for c in node.schema))
    types = [typed.type for each in (inner, argument) if (typed := scalars.resolve(each, scope, [])) is not None]
    return next((type_ for type_ in types if is_exact(type_)), types[-1] if types else aggregate.type)


def is_exact(type_: Type) -> bool:
    """Whether sums of that type are exact."""
    return type_ in INTEGERS or isinstance(type_, Decimal)
