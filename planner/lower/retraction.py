"""Aggregates over a table: which of them a row can be taken out of again.

A change takes the row before out of its group and puts the row after into its own. From counts and exact sums that
leaves no trace. What only keeps an extreme has forgotten the value that comes next, and a sum of binary fractions
rounds.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.kinds import K019
from penstock.planner import scalars
from penstock.planner.names import Scope, ScopeColumn
from penstock.planner.plan import Aggregate, Node
from penstock.planner.types import DOUBLE, FLOAT

COUNTED = frozenset(["COUNT", "COUNT_IF", "BOOL_AND", "EVERY", "BOOL_OR", "ANY", "SOME"])
"""Those that counts of rows decide."""
SUMMED = frozenset(
    ["SUM", "AVG", "MEAN", "VARIANCE", "VAR_SAMP", "VAR_POP", "STDDEV", "STDDEV_SAMP", "STDDEV_POP"],
)
"""Those that a count, a sum and a sum of squares decide, all of them exact for whole numbers and decimals."""


def check_retractable(aggregates: Sequence[Aggregate], node: Node, span: Span) -> None:
    """Raises CompileError for an aggregate over the table `node` that does not come right when rows leave a group."""
    report = []
    for each in aggregates:
        if each.distinct:
            found = K019.at(span, "", function=f"{each.function}(DISTINCT …)")
            found = found.because("It would have to know how many rows have each value.")
            report.append(found.with_hint("count the rows by group and value in a subquery, and aggregate its result"))
        elif each.function not in COUNTED | SUMMED:
            found = K019.at(span, "", function=each.function)
            found = found.because("When the row that decides it leaves the group, the next one is not known any more.")
            known = ", ".join(sorted(COUNTED | SUMMED))
            report.append(found.with_hint(f"over a table there are {known}"))
        elif each.function in SUMMED and argument_type(each, node) in (FLOAT, DOUBLE):
            found = K019.at(span, "", function=f"{each.function} of {argument_type(each, node)}")
            found = found.because("Sums of binary fractions round: a row that leaves would leave a rest behind.")
            report.append(found.with_hint("CAST(… AS DECIMAL(18, 6)), whose sums are exact"))
    if report:
        raise CompileError(report)


def argument_type(aggregate: Aggregate, node: Node) -> object:
    """The type of the values before they are cast to DOUBLE, as the aggregates of DOUBLE do by themselves."""
    argument = aggregate.arguments[0]
    while isinstance(argument, exp.Cast) and argument.to == scalars.data_type(DOUBLE):
        argument = argument.this
    scope = Scope(tuple(ScopeColumn(None, c.name, c.name, c.type) for c in node.schema))
    typed = scalars.resolve(argument, scope, [])
    return None if typed is None else typed.type
