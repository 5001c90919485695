"""Plans written by hand: short constructors, so that a test shows what matters to it."""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import exp

from penstock.diagnostics.source import Source, Span
from penstock.planner.plan import (
    Aggregate,
    BoundEnd,
    Column,
    Emission,
    Expression,
    Filter,
    Frame,
    FramedAggregate,
    GroupAggregate,
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
    RunningQuery,
    Scan,
    Sink,
    TimeBound,
    UnionAll,
    Window,
    WindowAggregate,
    WTable,
)
from penstock.planner.types import BIGINT, STRING, TIMESTAMP, Type

MINUTE = 60_000
HERE = Span(Source("<test>", ""), 0, 0)
COLUMNS = (Column("id", STRING), Column("k", STRING), Column("time", TIMESTAMP), Column("v", BIGINT))


def expression(sql: str) -> Expression:
    """A scalar of a plan: every call is anonymous, and no column has a table."""

    def plain(node: exp.Expression) -> exp.Expression:
        return exp.column(f"{node.table}.{node.name}") if isinstance(node, exp.Column) and node.table else node

    return sqlglot.parse_one(sql, read="spark").transform(plain)


def scan(
    name: str = "orders",
    path: str = "data",
    *,
    delay: int | None = 5 * MINUTE,
    columns: Sequence[Column] = COLUMNS,
    connector: str = "files",
    **options: str | int | bool,
) -> Scan:
    place = {"path": path, "format": "json"} if connector == "files" else {}
    time = next((each.name for each in columns if each.type == TIMESTAMP), None)
    schema = tuple(columns)
    origin = Origin(name, connector, tuple({**place, **options}.items()), schema, (), time, delay, None)
    return Scan(schema=schema, shape=origin.stream, span=HERE, origin=origin)


def where(below: Node, condition: str) -> Filter:
    return Filter(schema=below.schema, shape=below.shape, span=HERE, input=below, condition=expression(condition))


def project(below: Node, *items: Named) -> Project:
    schema = tuple(Column(item.name, item.type) for item in items)
    return Project(schema=schema, shape=below.shape, span=HERE, input=below, items=items)


def item(name: str, value: str, type_: Type) -> Named:
    return Named(name, expression(value), type_)


def aliased(below: Node, alias: str) -> Project:
    """The input of a join: every column under the name `alias.column`."""
    return project(below, *(Named(f"{alias}.{each.name}", exp.column(each.name), each.type) for each in below.schema))


def union(*below: Node) -> UnionAll:
    return UnionAll(schema=below[0].schema, shape=below[0].shape, span=HERE, inputs=below)


def aggregate(
    name: str, function: str, argument: str | None = None, type_: Type = BIGINT, *, condition: str | None = None
) -> Aggregate:
    arguments = () if argument is None else (expression(argument),)
    return Aggregate(name, function, arguments, False, None if condition is None else expression(condition), type_)


def windowed(
    below: Node,
    window: Window,
    *aggregates: Aggregate,
    keys: Sequence[Named] = (),
    emission: Emission = Emission.FINAL,
    grace: int = 0,
) -> WindowAggregate:
    bounds = (Column("window_start", TIMESTAMP), Column("window_end", TIMESTAMP))
    return WindowAggregate(
        schema=(*_columns(keys), *bounds, *_columns(aggregates)),
        shape=KStream() if emission is Emission.FINAL else WTable(tuple(key.name for key in keys)),
        span=HERE,
        input=below,
        window=window,
        time="time",
        keys=tuple(keys),
        aggregates=aggregates,
        emission=emission,
        grace=grace,
    )


def grouped(below: Node, *aggregates: Aggregate, keys: Sequence[Named] = ()) -> GroupAggregate:
    return GroupAggregate(
        schema=(*_columns(keys), *_columns(aggregates)),
        shape=KTable(tuple(key.name for key in keys)),
        span=HERE,
        input=below,
        keys=tuple(keys),
        aggregates=aggregates,
    )


def joined(
    type_: JoinType,
    left: Node,
    right: Node,
    *,
    lower: BoundEnd,
    upper: BoundEnd,
    residual: str | None = None,
    pane: int | None = None,
) -> IntervalJoin:
    """`left` as l and `right` as r, joined on k."""
    one, other = aliased(left, "l"), aliased(right, "r")
    only_left = type_ in (JoinType.SEMI, JoinType.ANTI)
    return IntervalJoin(
        schema=one.schema if only_left else (*one.schema, *other.schema),
        shape=KStream(),
        span=HERE,
        left=one,
        right=other,
        type=type_,
        equalities=((exp.column("l.k"), exp.column("r.k")),),
        left_time="l.time",
        right_time="r.time",
        bound=TimeBound(lower, upper),
        residual=None if residual is None else expression(residual),
        pane=pane,
    )


def over(below: Node, *framed: tuple[Aggregate, int | Frame], by: Sequence[str] = ("k",)) -> Over:
    """Each aggregate with its frame, or how far the frame reaches back in milliseconds."""
    return Over(
        schema=(*below.schema, *_columns([each for each, _ in framed])),
        shape=KStream(),
        span=HERE,
        input=below,
        partition_by=tuple(expression(each) for each in by),
        time="time",
        aggregates=tuple(
            FramedAggregate(each, frame if isinstance(frame, Frame) else Frame(-frame, 0)) for each, frame in framed
        ),
    )


def over_rows(below: Node, *framed: tuple[Aggregate, RowsFrame], by: Sequence[str] = ("k",)) -> OverRows:
    """Each aggregate with its frame."""
    return OverRows(
        schema=(*below.schema, *_columns([each for each, _ in framed])),
        shape=KStream(),
        span=HERE,
        input=below,
        partition_by=tuple(expression(each) for each in by),
        time="time",
        aggregates=tuple(FramedAggregate(*each) for each in framed),
    )


def query(
    root: Node,
    name: str = "q",
    *,
    emission: Emission = Emission.FINAL,
    key: Sequence[str] = (),
    sink: Sink | None = None,
) -> RunningQuery:
    return RunningQuery(name, root, sink or Sink(name, "memory", ()), emission, tuple(key), HERE)


def _columns(outputs: Sequence[Named | Aggregate]) -> tuple[Column, ...]:
    return tuple(Column(each.name, each.type) for each in outputs)
