"""A function over a frame -> what the panes hold for it, what DuckDB computes of that, and how Spark ends it.

The results equal the results of Spark's own functions, to the type and the last digit. DuckDB is given numbers,
texts, bytes and truth values; any other value, and any that comes out as it went in, is found again by its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from msgspec.structs import replace
from sqlglot import exp

from penstock.codegen.sql.decimals import EXACT_DIGITS, decimal_mean
from penstock.codegen.sql.ordering import comparable, make_zero_positive, make_zeros_positive
from penstock.codegen.sql.row_fields import RowFields
from penstock.codegen.sql.trees import alias, both, call, cast, column, either, is_null, number, only_if, select
from penstock.planner import find_type
from penstock.planner.functions.facts import Framing
from penstock.planner.plan import Aggregate, Column, Expression, Frame, FramedAggregate, Node, RowsFrame
from penstock.planner.plan.substitute import substitute
from penstock.planner.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTEGERS,
    Decimal,
    Type,
)

_MICROSECONDS = 1000
_FARTHEST = 2**31
"""Rows; no pane holds as many, and DuckDB can still add them to a place."""


@dataclass(slots=True)
class Panes(RowFields):
    """What the rows of the panes hold, and what DuckDB computes of them. `time` is the event time's column.

    A row holds all columns of the input as c0, c1 ….
    """

    node: Node
    """The input."""
    time: str
    frames: list[Frame | RowsFrame] = field(default_factory=list)
    partition: tuple[Expression, ...] = (column("pane"),)

    def __post_init__(self) -> None:
        self.held = {f"c{place}": column(each.name) for place, each in enumerate(self.schema)}
        self.columns = len(self.schema)

    @property
    def schema(self) -> tuple[Column, ...]:
        """The columns of the input."""
        return self.node.schema

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns of the input, by their fields."""
        return tuple(f"c{place}" for place in range(len(self.schema)))

    def schema_of(self, field: Callable[[str], Expression]) -> list[Expression]:
        """The columns kept and the answers, by name and type alone, given how to write a field of some row."""
        kept = [alias(field(name), name) for name in self.kept]
        return [*kept, *self.show_answers(field)]

    def over(self, function: Expression, frame: Frame | RowsFrame) -> Expression:
        """The function over the frame's rows of the pane."""
        if frame not in self.frames:
            self.frames.append(frame)
        name = exp.Identifier(this=f"w{self.frames.index(frame)}", quoted=True)
        return exp.Window(this=function, alias=name, over="OVER")

    def windows(self) -> list[Expression]:
        """The frames as the WINDOW clause names them."""
        return [self._window(f"w{place}", frame) for place, frame in enumerate(self.frames)]

    def _window(self, name: str, frame: Frame | RowsFrame) -> Expression:
        by_rows = isinstance(frame, RowsFrame)
        unit = 1 if by_rows else _MICROSECONDS
        (start, start_side), (end, end_side) = _edge(frame.start * unit), _edge(frame.end * unit)
        order = column("place") if by_rows else self.clock()
        return exp.Window(
            this=exp.Identifier(this=name, quoted=True),
            partition_by=[each.copy() for each in self.partition],
            order=exp.Order(expressions=[exp.Ordered(this=order, nulls_first=False)]),
            spec=exp.WindowSpec(
                kind="ROWS" if by_rows else "RANGE", start=start, start_side=start_side, end=end, end_side=end_side
            ),
        )

    def partition_by(self, keys: Sequence[Expression]) -> None:
        """Frames hold the rows of a pane that agree in the keys; without this a pane has rows of one partition only."""
        self.partition = (column("pane"), *map(self.give, keys))

    def in_order(self, keys: Sequence[Expression], *, by_time: bool = True) -> Expression:
        """DuckDB's SELECT of all places, partition by partition, by time, and rows of one time by all columns.

        Without `by_time` by all columns alone.
        """
        partition = [*self.partition, *map(self.give, keys)]
        numbered = exp.Window(this=call("DENSE_RANK"), order=_order(partition), over="OVER")
        values = (self.give(comparable(column(each.name), each.type)) for each in self.schema)
        order = [*partition, *([self.clock()] if by_time else []), *values]
        query = select([column("place"), alias(numbered, "pane")], "rows")
        return query.order_by(*_order(order).expressions, copy=False)

    def clock(self) -> Expression:
        """The event time as DuckDB's column."""
        return self.give(column(self.time))

    def type_of(self, value: Expression) -> Type | None:
        """The type of a plain column; None for other expressions."""
        names = {each.name: each.type for each in self.schema}
        return names.get(value.name) if isinstance(value, exp.Column) else None

    def compare(self, value: Expression) -> Expression:
        """The value as DuckDB compares it; NULL has no type."""
        type_ = find_type(value, self.node)
        return cast(value, BOOLEAN) if type_ is None else comparable(make_zero_positive(value, type_), type_)

    def renamed(self, expression: Expression) -> Expression:
        """An expression over the input's columns as one over c0, c1 …."""
        return substitute(expression, {each.name: column(c) for c, each in zip(self.kept, self.schema, strict=True)})


def _order(values: Iterable[Expression]) -> exp.Order:
    return exp.Order(expressions=[exp.Ordered(this=each.copy(), nulls_first=True) for each in values])


def lower_frame(framed: FramedAggregate, panes: Panes) -> Expression:
    """The function's value as a Spark expression over c0, c1 … and r0, r1 …, which `panes` has after this."""
    aggregate, frame = framed.aggregate, framed.frame
    match framed.framing:
        case Framing.COUNT | Framing.COUNT_IF as framing:
            return _count(aggregate, framing, frame, panes)
        case Framing.SUM:
            return _sum(aggregate, frame, panes)
        case Framing.MEAN:
            return _average(aggregate, frame, panes)
        case Framing.MIN | Framing.MAX as framing if not is_number(aggregate.type):
            compared = panes.give(only_if(aggregate.condition, panes.compare(aggregate.arguments[0])))
            best = call(f"ARG_{framing.name}", column("place"), compared)
            return panes.pick(panes.over(best, frame), aggregate.arguments[0], aggregate.type)
        case Framing.VAR_POP | Framing.STDDEV_POP as framing:
            return _spread(aggregate, framing, frame, panes)
        case Framing.MIN | Framing.MAX as framing:
            value = make_zero_positive(aggregate.arguments[0], aggregate.type)
            best = call(framing.name, panes.give(only_if(aggregate.condition, value)))
            return panes.answer(panes.over(best, frame), aggregate.type)
        case Framing.SAME:
            called = _call_function(aggregate.entry.original, panes.give(_filtered(aggregate)), aggregate.distinct)
            return panes.answer(panes.over(called, frame), aggregate.type)
        case Framing.FIRST | Framing.LAST as framing:
            place = only_if(aggregate.condition and panes.give(aggregate.condition), column("place"))
            edge = call("MIN" if framing is Framing.FIRST else "MAX", place)
            return panes.pick(panes.over(edge, frame), aggregate.arguments[0], aggregate.type)
        case Framing.MIN_BY | Framing.MAX_BY as framing:
            return _extreme(aggregate, framing, frame, panes)
        case Framing.LAG | Framing.LEAD as framing:
            return _neighbour(aggregate, framing, frame, panes)
        case Framing.ROW_NUMBER:
            before = exp.Sub(this=column("place"), expression=_first_place(frame, panes))
            return panes.answer(_after(before), INT)
        case Framing.RANK:
            return panes.answer(_after(_earlier(frame, panes)), INT)
        case Framing.DENSE_RANK:
            times = _call_function("COUNT", panes.clock(), distinct=True)
            return panes.answer(cast(panes.over(times, replace(frame, end=0)), INT), INT)
        case framing:
            assert_never(framing)


def _filtered(aggregate: Aggregate) -> Expression:
    """The argument, NULL in the rows that FILTER leaves out."""
    return only_if(aggregate.condition, aggregate.arguments[0])


def _count(aggregate: Aggregate, framing: Framing, frame: Frame | RowsFrame, panes: Panes) -> Expression:
    if aggregate.distinct:
        value = panes.give(_filtered(aggregate))
        return panes.answer(panes.over(_call_function("COUNT", value, distinct=True), frame), BIGINT)
    if framing is Framing.COUNT_IF:
        counted = both(aggregate.condition, *aggregate.arguments)
    else:
        counted = both(aggregate.condition, *(exp.Not(this=is_null(each)) for each in aggregate.arguments))
    if counted is None:
        return panes.answer(panes.over(call("COUNT", exp.Star()), frame), BIGINT)
    taken = panes.give(only_if(counted, exp.Boolean(this=True)))
    return panes.answer(panes.over(call("COUNT", taken), frame), BIGINT)


def _sum(aggregate: Aggregate, frame: Frame | RowsFrame, panes: Panes) -> Expression:
    value, type_ = _filtered(aggregate), aggregate.type
    taken = panes.give(_as_double(value, panes) if type_ == DOUBLE else value)
    total = panes.over(_call_function("SUM", taken, aggregate.distinct), frame)
    return panes.answer(total if type_ == DOUBLE else cast(total, type_), type_)


def _spread(aggregate: Aggregate, framing: Framing, frame: Frame | RowsFrame, panes: Panes) -> Expression:
    """The variance or standard deviation of a population.

    A single infinity or NaN gives NaN in Spark. The difference is 0 for all other values.
    """
    taken = panes.give(_filtered(aggregate))
    spread, total, count = (
        panes.over(_call_function(name, taken.copy(), aggregate.distinct), frame)
        for name in (framing.name, "SUM", "COUNT")
    )
    is_single = exp.EQ(this=count, expression=number(1))
    return panes.answer(either(is_single, exp.Sub(this=total, expression=total.copy()), spread), DOUBLE)


def _average(aggregate: Aggregate, frame: Frame | RowsFrame, panes: Panes) -> Expression:
    """Spark's division of the sum by the count. Sums of whole numbers are exact, and rounded to DOUBLE once."""
    value = _filtered(aggregate)
    is_whole = panes.type_of(value) in INTEGERS
    exact = isinstance(aggregate.type, Decimal) or is_whole
    taken = panes.give(value if exact else _as_double(value, panes))
    total = panes.over(_call_function("SUM", taken, aggregate.distinct), frame)
    count = panes.over(_call_function("COUNT", taken.copy(), aggregate.distinct), frame)
    if isinstance(aggregate.type, Decimal):
        # AVG has four more decimals than its argument.
        scale = aggregate.type.scale - 4
        summed, counted = panes.answer(total, Decimal(38, scale)), panes.answer(count, BIGINT)
        mean = decimal_mean(cast(summed, Decimal(EXACT_DIGITS, scale)), counted, aggregate.type)
        return only_if(exp.GT(this=counted.copy(), expression=number(0)), mean)
    return panes.answer(exp.Div(this=cast(total, DOUBLE), expression=count), DOUBLE)


def _first_place(frame: Frame | RowsFrame, panes: Panes) -> Expression:
    return panes.over(call("MIN", column("place")), frame)


def _after(before: Expression) -> Expression:
    """The place behind so many rows, from 1."""
    return cast(exp.Add(this=before, expression=number(1)), INT)


def _earlier(frame: Frame | RowsFrame, panes: Panes) -> Expression:
    """The number of rows of the frame whose times are before the time of the row."""
    if isinstance(frame, RowsFrame):
        first, own = _first_place(frame, panes), _first_place(Frame(0, 0), panes)
        return call("GREATEST", exp.Sub(this=own, expression=first), number(0))
    upto, peers = (panes.over(call("COUNT", exp.Star()), Frame(start, 0)) for start in (frame.start, 0))
    return exp.Sub(this=upto, expression=peers)


def _neighbour(aggregate: Aggregate, framing: Framing, frame: Frame | RowsFrame, panes: Panes) -> Expression:
    """LAG and LEAD: the argument in the row so many places away, if the frame has it."""
    place, arguments = column("place"), aggregate.arguments
    offset = min(int(arguments[1].name) if len(arguments) > 1 else 1, _FARTHEST)
    direction = exp.Add if framing is Framing.LEAD else exp.Sub
    meant = direction(this=place, expression=number(offset))
    last = panes.over(call("MAX", place.copy()), frame)
    inside = exp.Between(this=meant, low=_first_place(frame, panes), high=last)
    value = panes.pick(only_if(inside, meant.copy()), arguments[0], aggregate.type)
    if len(arguments) < 3:
        return value
    return either(panes.answer(inside.copy(), BOOLEAN), value, panes.renamed(arguments[2]))


def _extreme(aggregate: Aggregate, framing: Framing, frame: Frame | RowsFrame, panes: Panes) -> Expression:
    """MIN_BY and MAX_BY.

    If several values have the same least or greatest order, the least or the greatest value wins.
    """
    value, by = make_zeros_positive(aggregate.arguments[0], aggregate.type), aggregate.arguments[1]
    compared = panes.give(only_if(aggregate.condition, panes.compare(by)))
    tie = panes.give(comparable(value, aggregate.type))
    place = call("ROW", compared, exp.Not(this=is_null(tie)), tie.copy())  # NULL before all values
    best = call("ARG_MIN" if framing is Framing.MIN_BY else "ARG_MAX", column("place"), place)
    known = exp.Filter(this=best, expression=exp.Where(this=exp.Not(this=is_null(compared.copy()))))
    return panes.pick(panes.over(known, frame), value, aggregate.type)


def _call_function(function: str, value: Expression, distinct: bool) -> Expression:
    return call(function, exp.Distinct(expressions=[value]) if distinct else value)


def _edge(distance: int) -> tuple[Expression | str, str | None]:
    if distance == 0:
        return "CURRENT ROW", None
    return number(abs(distance)), "PRECEDING" if distance < 0 else "FOLLOWING"


def _as_double(value: Expression, panes: Panes) -> Expression:
    return value if panes.type_of(value) == DOUBLE else cast(value, DOUBLE)


def is_number(type_: Type) -> bool:
    """Whether DuckDB answers such values themselves, not the places of their rows."""
    return isinstance(type_, Decimal) or type_ in (*INTEGERS, FLOAT, DOUBLE, DATE)
