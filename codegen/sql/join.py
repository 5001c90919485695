"""IntervalJoin -> one JOIN view.

The bound is printed as `right >= left + … AND right <= left + …` on the bare event-time columns: in this form, and in hardly
any other, Spark finds the time at which a row kept for the join can be forgotten, and lets outer joins run.
"""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.program import View
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.trees import both, column, columns, is_null, select, shifted, table
from penstock.planner.plan import Expression, IntervalJoin, JoinType

_JOIN = {
    JoinType.INNER: "INNER",
    JoinType.LEFT: "LEFT",
    JoinType.RIGHT: "RIGHT",
    JoinType.FULL: "FULL",
    JoinType.SEMI: "LEFT SEMI",
    # Spark has no anti join of streams: the unmatched rows of a left join are those whose right time, never NULL in a
    # row that was read, is NULL.
    JoinType.ANTI: "LEFT",
}


def join_view(node: IntervalJoin, name: str, left: str, right: str) -> View:
    """SELECT the schema's columns FROM left JOIN right ON equalities, bound and the rest."""
    assert node.equalities, "Spark joins streams only on an equality"
    tree = select(columns(node.schema), left)
    tree = tree.join(table(right), on=_condition(node), join_type=_JOIN[node.type], copy=False)
    if node.type is JoinType.ANTI:
        tree = tree.where(is_null(column(node.right_time)), copy=False)
    return View(name, print_sql(tree))


def _condition(node: IntervalJoin) -> Expression | None:
    equalities = (exp.EQ(this=left, expression=right) for left, right in node.equalities)
    # Spark finds partners by looking their key up in its state, where NULL is found under NULL. Its optimiser keeps such
    # rows away from most joins, but not from a full one, nor where a key is computed by CASE or the like.
    known = (exp.Not(this=is_null(left)) for left, _ in node.equalities)
    return both(*equalities, *known, *_bound(node), node.residual)


def _bound(node: IntervalJoin) -> tuple[Expression, Expression]:
    lower, upper = node.bound.lower, node.bound.upper
    at_least, at_most = exp.GTE if lower.closed else exp.GT, exp.LTE if upper.closed else exp.LT
    left, right = node.left_time, node.right_time
    return (
        at_least(this=column(right), expression=shifted(column(left), lower.milliseconds)),
        at_most(this=column(right), expression=shifted(column(left), upper.milliseconds)),
    )
