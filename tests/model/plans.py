"""Plan nodes built by hand, for tests that need neither parser nor planner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics.source import Source, Span
from penstock.planner.lower.retraction import choose_mergeable
from penstock.planner.plan import (
    Aggregate,
    AssignWindows,
    BoundEnd,
    Column,
    Cumulate,
    Distinct,
    Emission,
    Frame,
    FramedAggregate,
    GroupAggregate,
    GroupingSets,
    Hop,
    IntervalJoin,
    JoinType,
    KStream,
    KTable,
    Named,
    Node,
    Origin,
    Over,
    OverRows,
    Project,
    RowsFrame,
    Scan,
    SessionWindow,
    Sorting,
    TimeBound,
    Tumble,
    Unnest,
    Window,
    WindowAggregate,
)
from penstock.planner.types import BIGINT, BOOLEAN, DOUBLE, INT, STRING, TIMESTAMP, Array, Decimal, Type

NOWHERE = Span(Source("<test>", ""), 0, 0)
STREAM = KStream()


def column(name: str) -> exp.Expression:
    """A column by its whole name, dots included."""
    return exp.Column(this=exp.Identifier(this=name, quoted=True))


def call(name: str, *arguments: exp.Expression) -> exp.Expression:
    """A function call as the parser makes it."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def scan(name: str, types: Mapping[str, Type], time: str | None = "time", delay: int | None = 0) -> Scan:
    """A stream of that name with those columns; `delay` in milliseconds."""
    schema = tuple(Column(each, type_) for each, type_ in types.items())
    origin = Origin(name, "files", (), schema, (), time, delay, None)
    return Scan(schema=schema, shape=origin.stream, span=NOWHERE, origin=origin)


def project(node: Node, items: Sequence[tuple[str, exp.Expression, Type]]) -> Project:
    """Computed columns."""
    named = tuple(Named(*item) for item in items)
    schema = tuple(Column(each.name, each.type) for each in named)
    return Project(schema=schema, shape=STREAM, span=NOWHERE, input=node, items=named)


def aliased(node: Node, alias: str) -> Project:
    """All columns of `node` as `alias.column`, the form of a join's input."""
    return project(node, [(f"{alias}.{each.name}", column(each.name), each.type) for each in node.schema])


def interval_join(
    type_: JoinType,
    left: Node,
    right: Node,
    bound: TimeBound,
    residual: exp.Expression | None = None,
    key: str = "k",
    pane: int | None = None,
    grace: int = 0,
) -> IntervalJoin:
    """`left l JOIN right r ON l.k = r.k AND bound AND residual`, with event times in columns `time`."""
    lefts, rights = aliased(left, "l"), aliased(right, "r")
    schema = lefts.schema if type_ in (JoinType.SEMI, JoinType.ANTI) else (*lefts.schema, *rights.schema)
    return IntervalJoin(
        schema=schema, shape=STREAM, span=NOWHERE, left=lefts, right=rights, type=type_,
        equalities=((column(f"l.{key}"), column(f"r.{key}")),), left_time="l.time", right_time="r.time",
        bound=bound, residual=residual, pane=pane, grace=grace,
    )  # fmt: skip


def bound(lower: int, upper: int, lower_closed: bool = True, upper_closed: bool = True) -> TimeBound:
    """`lower <= right.time − left.time <= upper`, in milliseconds."""
    return TimeBound(BoundEnd(lower, lower_closed), BoundEnd(upper, upper_closed))


def aggregate(
    name: str, function: str, argument: str | None, type_: Type, distinct: bool = False,
    condition: exp.Expression | None = None,
) -> Aggregate:  # fmt: skip
    """An aggregate of one column, or of whole rows."""
    return Aggregate(name, function, () if argument is None else (column(argument),), distinct, condition, type_)


def standard_aggregates(value: str = "v", price: str = "price") -> tuple[Aggregate, ...]:
    """One of each kind, over a BIGINT column and a DECIMAL(10, 2) column."""
    positive = exp.GT(this=column(value), expression=exp.Literal.number(0))
    return (
        aggregate("n", "COUNT", None, BIGINT),
        aggregate("known", "COUNT", value, BIGINT),
        aggregate("kinds", "COUNT", value, BIGINT, distinct=True),
        aggregate("total", "SUM", value, BIGINT),
        aggregate("positive", "SUM", value, BIGINT, condition=positive),
        aggregate("mean", "AVG", value, DOUBLE),
        aggregate("least", "MIN", value, BIGINT),
        aggregate("most", "MAX", price, Decimal(10, 2)),
        aggregate("revenue", "SUM", price, Decimal(20, 2)),
        aggregate("mean_price", "AVG", price, Decimal(14, 6)),
    )


def collecting_aggregates(value: str = "v", price: str = "price") -> tuple[Aggregate, ...]:
    """Aggregates that collect, over a BIGINT column and a DECIMAL(10, 2) column."""
    positive = exp.GT(this=column(value), expression=exp.Literal.number(0))
    falling, rising = Sorting(column(price), True, False), Sorting(column(value), False, False)
    text, two = exp.Cast(this=column(value), to=exp.DataType.build("STRING")), exp.Literal.number(2)
    prices = Array(Decimal(10, 2))
    return (
        aggregate("listed", "COLLECT_LIST", value, Array(BIGINT)),
        replace(
            aggregate("ordered", "ARRAY_AGG", value, Array(BIGINT), condition=positive), order_by=(falling, rising)
        ),
        aggregate("price_set", "COLLECT_SET", price, prices, distinct=True),
        Aggregate("text", "LISTAGG", (text, exp.Literal.string(", ")), False, None, STRING, order_by=(falling,)),
        Aggregate("top", "TOPK", (column(price), two), False, None, prices),
        Aggregate("tops", "TOPKDISTINCT", (column(price), two.copy()), True, None, prices),
    )


def other_aggregates() -> tuple[Aggregate, ...]:
    """More kinds, over the columns id, k, v, price and time."""
    positive = exp.GT(this=column("v"), expression=exp.Literal.number(0))
    return (
        aggregate("kinds_of_price", "SUM", "price", Decimal(20, 2), distinct=True),
        aggregate("name", "MAX", "k", STRING),
        aggregate("latest", "MAX", "time", TIMESTAMP, condition=positive),
        aggregate("spread", "STDDEV_SAMP", "price", DOUBLE),
        Aggregate("good", "COUNT_IF", (positive.copy(),), False, None, BIGINT),
        Aggregate("all_good", "EVERY", (positive.copy(),), False, None, BOOLEAN),
        aggregate("bits", "BIT_XOR", "v", BIGINT),
        *tie_aggregates(),
    )


def tie_aggregates() -> tuple[Aggregate, ...]:
    """Aggregates for which equal rows have to be told apart, over the columns id, v and price."""
    positive, by_v = exp.GT(this=column("v"), expression=exp.Literal.number(0)), (column("id"), column("v"))
    return (
        Aggregate("least_id", "MIN_BY", by_v, False, None, BIGINT),
        Aggregate("most_id", "MAX_BY", by_v, False, positive, BIGINT),
        Aggregate("last_v", "MAX_BY", (column("v"), column("time")), False, None, BIGINT),
    )


def framed_functions() -> tuple[Aggregate, ...]:
    """One of each kind that exists over a frame, over the columns id, k, v, price and time."""
    positive = exp.GT(this=column("v"), expression=exp.Literal.number(0))
    two, zero = exp.Literal.number(2), exp.Cast(this=exp.Literal.number(0), to=exp.DataType.build("BIGINT"))
    v = (column("v"),)
    return (
        *standard_aggregates(),
        *other_aggregates(),
        aggregate("first", "FIRST", "v", BIGINT, condition=positive.copy()),
        aggregate("last", "LAST_VALUE", "price", Decimal(10, 2)),
        aggregate("before", "LAG", "id", BIGINT),
        Aggregate("long_before", "LAG", (*v, two), False, None, BIGINT),
        Aggregate("after", "LEAD", (*v, exp.Literal.number(1), zero), False, None, BIGINT),
        *(Aggregate(name.lower(), name, (), False, None, INT) for name in RANKS),
    )


RANKS = ("ROW_NUMBER", "RANK", "DENSE_RANK")


def distinct_aggregates(value: str = "v", price: str = "price") -> tuple[Aggregate, ...]:
    """DISTINCT aggregates of the same columns, several of which share the set that they are computed from."""
    positive = exp.GT(this=column(value), expression=exp.Literal.number(0))
    return (
        Aggregate("pairs", "COUNT", (column(value), column(price)), True, None, BIGINT),
        Aggregate("positives", "COUNT", (column(value), column(price)), True, positive, BIGINT),
        aggregate("different", "SUM", value, BIGINT, distinct=True),
        aggregate("different_positive", "SUM", value, BIGINT, distinct=True, condition=positive),
        aggregate("mean_of_different", "AVG", value, DOUBLE, distinct=True),
        aggregate("prices", "SUM", price, Decimal(20, 2), distinct=True),
        aggregate("mean_of_prices", "AVG", price, Decimal(14, 6), distinct=True),
    )


def window_aggregate(
    node: Node, window: Window, aggregates: tuple[Aggregate, ...], keys: tuple[str, ...] = ("k",),
    emission: Emission = Emission.FINAL, grace: int = 0,
) -> WindowAggregate:  # fmt: skip
    """`SELECT keys, window_start, window_end, aggregates FROM node GROUP BY keys, window(time)`.

    Sessions with CHANGES are a table, the aggregates of which keep the values that they need.
    """
    changing = isinstance(window, SessionWindow) and emission is Emission.CHANGES
    if changing:
        aggregates = choose_mergeable(aggregates, node, [NOWHERE] * len(aggregates))
    named = tuple(Named(key, column(key), node.column(key).type) for key in keys)
    ends = (Column("window_start", TIMESTAMP), Column("window_end", TIMESTAMP))
    schema = (*(Column(each.name, each.type) for each in named), *ends, *(Column(a.name, a.type) for a in aggregates))
    return WindowAggregate(
        schema=schema, shape=KTable((*keys, "window_start", "window_end")) if changing else STREAM, span=NOWHERE,
        input=node, window=window, time="time", keys=named, aggregates=aggregates, emission=emission, grace=grace,
    )  # fmt: skip


def grouping_sets(node: Node, keys: tuple[str, ...], sets: Sequence[tuple[str, ...]]) -> GroupingSets:
    """Each row of `node` once per set; of the keys a set has, the column `set_<key>` is the value, else NULL."""
    named = tuple(Named(f"set_{key}", column(key), node.column(key).type) for key in keys)
    ids = (int("".join("0" if key in each else "1" for key in keys) or "0", 2) for each in sets)
    added = (Column("set_id", BIGINT), *(Column(each.name, each.type) for each in named))
    return GroupingSets(
        schema=(*node.schema, *added), shape=node.shape, span=NOWHERE, input=node, keys=named, ids=tuple(ids),
        id_column="set_id",
    )  # fmt: skip


def assign_windows(node: Node, window: Tumble | Hop | Cumulate) -> AssignWindows:
    """Each row of `node` with each of its windows."""
    ends = (Column("window_start", TIMESTAMP), Column("window_end", TIMESTAMP))
    return AssignWindows(
        schema=(*node.schema, *ends), shape=node.shape, span=NOWHERE, input=node, window=window, time="time"
    )


def unnest(node: Node, value: exp.Expression, elements: Mapping[str, Type], *, place: bool, outer: bool) -> Unnest:
    """Each row of `node` once for each element of `value`, with its place if `place`."""
    names = {**({"place": INT} if place else {}), **elements}
    schema = (*node.schema, *(Column(name, type_) for name, type_ in names.items()))
    position = "place" if place else None
    return Unnest(
        schema=schema, shape=node.shape, span=NOWHERE, input=node,
        value=value, position=position, elements=tuple(elements), outer=outer,
    )  # fmt: skip


def group_aggregate(node: Node, aggregates: tuple[Aggregate, ...], keys: tuple[str, ...] = ("k",)) -> GroupAggregate:
    """`SELECT keys, aggregates FROM node GROUP BY keys`."""
    named = tuple(Named(key, column(key), node.column(key).type) for key in keys)
    schema = (*(Column(each.name, each.type) for each in named), *(Column(a.name, a.type) for a in aggregates))
    return GroupAggregate(
        schema=schema, shape=KTable(keys), span=NOWHERE, input=node, keys=named, aggregates=aggregates
    )


def distinct(node: Node) -> Distinct:
    """`SELECT DISTINCT * FROM node`."""
    return Distinct(schema=node.schema, shape=STREAM, span=NOWHERE, input=node, time="time")


def over(
    node: Node, framed: Sequence[tuple[Aggregate, int | Frame | RowsFrame]], partition_by: tuple[str, ...] = ("k",)
) -> Over | OverRows:
    """`SELECT *, aggregate OVER (PARTITION BY … ORDER BY time RANGE …), … FROM node`; a number is that PRECEDING."""
    schema = (*node.schema, *(Column(each.name, each.type) for each, _ in framed))
    by_rows = any(isinstance(frame, RowsFrame) for _, frame in framed)
    return (OverRows if by_rows else Over)(
        schema=schema, shape=STREAM, span=NOWHERE, input=node, time="time",
        partition_by=tuple(column(each) for each in partition_by),
        aggregates=tuple(
            FramedAggregate(each, Frame(-frame, 0) if isinstance(frame, int) else frame) for each, frame in framed
        ),
    )  # fmt: skip
