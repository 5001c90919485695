"""IntervalJoin -> a JOIN view, over one side spread into buckets of time.

Spark keeps the rows of a stream-stream join by key, and compares each new row with all kept rows of its key. With few
keys, the cost of a row grows with the state. So the bucket of the event time becomes part of the key. A row of one side
is put into every bucket that its partners' times can lie in. A row of the other side is put into one bucket, so a pair
still meets once. The side in one bucket is the preserved one. A FULL join preserves both sides and has no buckets.

The bound is printed as `right >= left + … AND right <= left + …` on bare columns with a watermark. In this form, and in
few others, Spark finds the time at which it can forget a row, and allows outer joins. The columns are the last
microseconds of the milliseconds of the event times. Otherwise Spark would drop rows exactly at the watermark, which are
not late, and would forget their partners. The bound on the event times themselves is a further condition.
"""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.program import View
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.trees import (
    alias,
    beside_time,
    both,
    call,
    column,
    columns,
    duration,
    is_null,
    number,
    select,
    shift_time,
    table,
)
from penstock.planner.plan import Expression, IntervalJoin, JoinType, Node, conjuncts

JOIN_WORDS = {
    JoinType.INNER: "INNER",
    JoinType.LEFT: "LEFT",
    JoinType.RIGHT: "RIGHT",
    JoinType.FULL: "FULL",
    JoinType.SEMI: "LEFT SEMI",
    JoinType.ANTI: "LEFT ANTI",
}
# Spark has no anti join of streams. It is a left join whose unmatched rows are kept. Their right time is NULL, which
# it never is in a row that was read.
_OF_STREAMS = {**JOIN_WORDS, JoinType.ANTI: "LEFT"}


_BUCKET = "_bucket"
_WINDOW = "_window"
_LEFT, _RIGHT = "_left_time", "_right_time"
"""The event times as Spark knows them."""


def join_views(node: IntervalJoin, length: int, name: str, left: str, right: str) -> tuple[View, ...]:
    """SELECT the schema's columns FROM left JOIN right ON equalities, bucket, bound and the rest.

    `length`: the length of a bucket in milliseconds.
    """
    assert node.equalities, "Spark joins streams only on an equality"
    views = [
        *_select_clock(node.left, f"{name}_left", left, node.left_time, _LEFT),
        *_select_clock(node.right, f"{name}_right", right, node.right_time, _RIGHT),
    ]
    left, right = views[1].name, views[3].name
    same_bucket = None
    lower, upper = node.bound.lower.milliseconds, node.bound.upper.milliseconds
    if node.type is JoinType.RIGHT:
        views.append(
            _spread_over_buckets(node.left, f"{name}_spread", left, node.left_time, _LEFT, (lower, upper), length)
        )
        same_bucket = exp.EQ(this=column(_BUCKET), expression=_bucket(column(node.right_time), length))
        left = views[-1].name
    elif node.type is not JoinType.FULL:
        views.append(
            _spread_over_buckets(node.right, f"{name}_spread", right, node.right_time, _RIGHT, (-upper, -lower), length)
        )
        same_bucket = exp.EQ(this=_bucket(column(node.left_time), length), expression=column(_BUCKET))
        right = views[-1].name
    tree = select(columns(node.schema), left)
    tree = tree.join(table(right), on=_condition(node, same_bucket), join_type=_OF_STREAMS[node.type], copy=False)
    if node.type is JoinType.ANTI:
        tree = tree.where(is_null(column(node.right_time)), copy=False)
    return (*views, View(name, print_sql(tree)))


def _select_clock(side: Node, name: str, below: str, time: str, clock: str) -> tuple[View, View]:
    """The rows of a side with the `clock` that Spark goes by. Spark is not told about any other time."""
    window = call("WINDOW", column(time), duration(1))
    windows = View(f"{name}_windows", print_sql(select([alias(window, _WINDOW), *columns(side.schema)], below)))
    rows = (alias(beside_time(column(each.name), side.schema), each.name) for each in side.schema)
    return windows, View(
        name, print_sql(select([alias(call("WINDOW_TIME", column(_WINDOW)), clock), *rows], windows.name))
    )


def _spread_over_buckets(
    side: Node, name: str, below: str, time: str, clock: str, reach: tuple[int, int], length: int
) -> View:
    """The rows of a side, once for each bucket that a partner's time, within `reach` of their own, can lie in."""
    first, last = (_bucket(shift_time(column(time), milliseconds), length) for milliseconds in reach)
    buckets = call("EXPLODE", call("SEQUENCE", first, last, number(length * 1_000)))
    return View(name, print_sql(select([column(clock), *columns(side.schema), alias(buckets, _BUCKET)], below)))


def _bucket(time: Expression, length: int) -> Expression:
    """The start of the bucket that a time lies in, in microseconds; `length` is in milliseconds."""
    micros = call("UNIX_MICROS", time)
    return exp.Sub(this=micros, expression=call("PMOD", micros.copy(), number(length * 1_000)))


def _condition(node: IntervalJoin, same_bucket: Expression | None) -> Expression | None:
    equalities = (exp.EQ(this=left, expression=right) for left, right in node.equalities)
    # Spark finds partners by looking their key up in its state, where NULL is found under NULL. Its optimiser keeps
    # such rows away from most joins, but not from a full one, nor where a key is computed by CASE or the like.
    known = (exp.Not(this=is_null(left)) for left, _ in node.equalities)
    return both(*equalities, same_bucket, *known, *_bound_condition(node), *_residual(node))


def _residual(node: IntervalJoin) -> list[Expression]:
    """The other conditions, each beside one that is never true, because Spark reads more into conditions than they say.

    It takes `v > 0` for a bound on the event time of the side that has `v`. It would keep the rows of that side
    forever, and never find out which have no partner. Spark can work out that a condition such as `1 = 2` is
    false. It would drop the equality with it, and without an equality it refuses the join.
    """
    never = exp.LT(this=call("UNIX_MICROS", column(node.right_time)), expression=number(0))
    lower, upper = node.bound.lower, node.bound.upper
    at_least, at_most = exp.GTE if lower.closed else exp.GT, exp.LTE if upper.closed else exp.LT
    left, right = column(node.left_time), column(node.right_time)
    exact = (
        at_least(this=right, expression=shift_time(left, lower.milliseconds)),
        at_most(this=right.copy(), expression=shift_time(left.copy(), upper.milliseconds)),
    )
    return [exp.Or(this=each, expression=never.copy()) for each in (*exact, *conjuncts(node.residual))]


def _bound_condition(node: IntervalJoin) -> tuple[Expression, Expression]:
    """The bound in milliseconds: times that satisfy it exactly satisfy this as well."""
    lower, upper = node.bound.lower.milliseconds, node.bound.upper.milliseconds
    return (
        exp.GTE(this=column(_RIGHT), expression=shift_time(column(_LEFT), lower)),
        exp.LTE(this=column(_RIGHT), expression=shift_time(column(_LEFT), upper)),
    )
