"""A function over a frame -> what the panes hold for it, what DuckDB computes of that, and how Spark ends it.

The results are those of Spark's own functions, to the type and the last digit. DuckDB is given numbers, texts, bytes
and truth values; any other value, and any that comes out as it went in, is found again by its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from penstock.codegen.sql.decimals import EXACT_DIGITS, decimal_mean
from penstock.codegen.sql.ordering import comparable
from penstock.codegen.sql.trees import alias, both, call, cast, column, either, is_null, null, number, only_if, select
from penstock.planner.plan import Aggregate, Column, Expression, Frame, FramedAggregate, RowsFrame
from penstock.planner.plan.over import ORDERED
from penstock.planner.plan.substitute import substitute
from penstock.planner.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTEGERS,
    Array,
    Decimal,
    Map,
    Struct,
    Type,
)

_MICROSECONDS = 1000
_FARTHEST = 2**31
"""Rows; no pane holds as many, and DuckDB can still add them to a place."""
_SAME = {
    **{name: name for name in ("MIN", "MAX", "VAR_SAMP", "STDDEV_SAMP")},
    **{name: name for name in ("BOOL_AND", "BOOL_OR", "BIT_AND", "BIT_OR", "BIT_XOR")},
    **{"VARIANCE": "VAR_SAMP", "STDDEV": "STDDEV_SAMP", "EVERY": "BOOL_AND", "ANY": "BOOL_OR", "SOME": "BOOL_OR"},
}
"""Functions that DuckDB computes as Spark does, with DuckDB's name for them."""


@dataclass(slots=True)
class Panes:
    """What the rows of the panes hold, and what DuckDB computes of them, while these are found out.

    A row holds all columns of the input as c0, c1 …, and other values as v0, v1 …. DuckDB's answers are r0, r1 ….
    `time` is the event time's column.
    """

    schema: tuple[Column, ...]
    time: str
    held: dict[str, Expression] = field(default_factory=dict)
    given: list[str] = field(default_factory=list)
    answers: dict[str, tuple[Expression, Type]] = field(default_factory=dict)
    picked: dict[str, str] = field(default_factory=dict)
    frames: list[Frame | RowsFrame] = field(default_factory=list)
    partition: tuple[Expression, ...] = (column("pane"),)

    def __post_init__(self) -> None:
        self.held = {f"c{place}": column(each.name) for place, each in enumerate(self.schema)}

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns of the input."""
        return tuple(f"c{place}" for place in range(len(self.schema)))

    def hold(self, value: Expression) -> str:
        """The field of the rows that has the value."""
        value = column(value.name) if isinstance(value, exp.Column) else value
        for name, known in self.held.items():
            if known == value:
                return name
        name = f"v{len(self.held) - len(self.schema)}"
        self.held[name] = value
        return name

    def give(self, value: Expression) -> Expression:
        """The value as DuckDB's column."""
        name = self.hold(value)
        if name not in self.given:
            self.given.append(name)
        return column(name)

    def answer(self, tree: Expression, type_: Type) -> Expression:
        """What DuckDB answers."""
        return self._answer(tree, type_, None)

    def pick(self, place: Expression, value: Expression, type_: Type) -> Expression:
        """The value in the row whose place DuckDB answers."""
        return self._answer(place, type_, self.hold(value))

    def schema_of(self, field: Callable[[str], Expression]) -> list[Expression]:
        """The columns kept and the answers, by name and type alone, given how to write a field of some row."""
        kept = [alias(field(name), name) for name in self.kept]
        answers = (
            alias(null(type_) if name not in self.picked else _perhaps(field(self.picked[name]), type_), name)
            for name, (_, type_) in self.answers.items()
        )
        return [*kept, *answers]

    def _answer(self, tree: Expression, type_: Type, picked: str | None) -> Expression:
        for name, known in self.answers.items():
            if known == (tree, type_) and self.picked.get(name) == picked:
                return column(name)
        name = f"r{len(self.answers)}"
        self.answers[name] = (tree, type_)
        if picked is not None:
            self.picked[name] = picked
        return column(name)

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

    def in_order(self, keys: Sequence[Expression]) -> Expression:
        """DuckDB's SELECT of all places, partition by partition, by time, and those of one time by all columns."""
        partition = [*self.partition, *map(self.give, keys)]
        numbered = exp.Window(this=call("DENSE_RANK"), order=_order(partition), over="OVER")
        values = (self.give(comparable(column(each.name), each.type)) for each in self.schema)
        order = [*partition, self.clock(), *values]
        query = select([column("place"), alias(numbered, "pane")], "rows")
        return query.order_by(*_order(order).expressions, copy=False)

    def clock(self) -> Expression:
        """The event time as DuckDB's column."""
        return self.give(column(self.time))

    def type_of(self, value: Expression) -> Type | None:
        """The type of a plain column; None for other expressions."""
        names = {each.name: each.type for each in self.schema}
        return names.get(value.name) if isinstance(value, exp.Column) else None

    def renamed(self, expression: Expression) -> Expression:
        """An expression over the input's columns as one over c0, c1 …."""
        return substitute(expression, {each.name: column(c) for c, each in zip(self.kept, self.schema, strict=True)})


def _order(values: Iterable[Expression]) -> exp.Order:
    return exp.Order(expressions=[exp.Ordered(this=each.copy(), nulls_first=True) for each in values])


def lower_frame(framed: FramedAggregate, panes: Panes) -> Expression:
    """The function's value as a Spark expression over c0, c1 … and r0, r1 …, which `panes` has after this."""
    aggregate, frame = framed.aggregate, framed.frame
    if aggregate.function in ORDERED:
        return _by_place(aggregate, frame, panes)
    if aggregate.function in ("COUNT", "COUNT_IF"):
        return _count(aggregate, frame, panes)
    if aggregate.function in ("AVG", "MEAN"):
        return _average(aggregate, frame, panes)
    argument = aggregate.arguments[0]
    value = only_if(aggregate.condition, argument)
    match aggregate.function:
        case "SUM" if aggregate.type == DOUBLE:
            total = panes.over(_call_function("SUM", panes.give(_as_double(value, panes)), aggregate.distinct), frame)
            return panes.answer(total, DOUBLE)
        case "SUM":
            total = panes.over(_call_function("SUM", panes.give(value), aggregate.distinct), frame)
            return panes.answer(cast(total, aggregate.type), aggregate.type)
        case "MIN" | "MAX" if not _is_number(aggregate.type):
            best = call(f"ARG_{aggregate.function}", column("place"), panes.give(value))
            return panes.pick(panes.over(best, frame), argument, aggregate.type)
        case "VAR_POP" | "STDDEV_POP" as function:
            # Of a single infinity, or NaN, Spark gives NaN; the difference is 0 for all other values.
            taken = panes.give(value)
            spread, total, count = (
                panes.over(_call_function(name, taken.copy(), aggregate.distinct), frame)
                for name in (function, "SUM", "COUNT")
            )
            is_single = exp.EQ(this=count, expression=number(1))
            return panes.answer(either(is_single, exp.Sub(this=total, expression=total.copy()), spread), DOUBLE)
        case function:
            called = _call_function(_SAME[function], panes.give(value), aggregate.distinct)
            return panes.answer(panes.over(called, frame), aggregate.type)


def _count(aggregate: Aggregate, frame: Frame | RowsFrame, panes: Panes) -> Expression:
    if aggregate.distinct:
        value = panes.give(only_if(aggregate.condition, aggregate.arguments[0]))
        return panes.answer(panes.over(_call_function("COUNT", value, distinct=True), frame), BIGINT)
    if aggregate.function == "COUNT_IF":
        counted = both(aggregate.condition, *aggregate.arguments)
    else:
        counted = both(aggregate.condition, *(exp.Not(this=is_null(each)) for each in aggregate.arguments))
    if counted is None:
        return panes.answer(panes.over(call("COUNT", exp.Star()), frame), BIGINT)
    taken = panes.give(only_if(counted, exp.Boolean(this=True)))
    return panes.answer(panes.over(call("COUNT", taken), frame), BIGINT)


def _average(aggregate: Aggregate, frame: Frame | RowsFrame, panes: Panes) -> Expression:
    """Spark's division of the sum by the count. Sums of whole numbers are exact, and rounded to DOUBLE once."""
    value = only_if(aggregate.condition, aggregate.arguments[0])
    is_whole = panes.type_of(value) in INTEGERS
    exact = isinstance(aggregate.type, Decimal) or is_whole
    taken = panes.give(value if exact else _as_double(value, panes))
    total = panes.over(_call_function("SUM", taken, aggregate.distinct), frame)
    count = panes.over(_call_function("COUNT", taken.copy(), aggregate.distinct), frame)
    if isinstance(aggregate.type, Decimal):
        # AVG has four more decimals than its argument; were they cut off at 38, the argument's would not be known.
        assert aggregate.type.scale < 38, "AVG over a frame of numbers with more than 33 decimals"
        scale = aggregate.type.scale - 4
        summed, counted = panes.answer(total, Decimal(38, scale)), panes.answer(count, BIGINT)
        mean = decimal_mean(cast(summed, Decimal(EXACT_DIGITS, scale)), counted, aggregate.type)
        return only_if(exp.GT(this=counted.copy(), expression=number(0)), mean)
    return panes.answer(exp.Div(this=cast(total, DOUBLE), expression=count), DOUBLE)


def _by_place(aggregate: Aggregate, frame: Frame | RowsFrame, panes: Panes) -> Expression:
    """Functions of the order of rows, which is that of their places."""
    place = column("place")
    first, last = panes.over(call("MIN", place), frame), panes.over(call("MAX", place.copy()), frame)
    match aggregate.function:
        case "FIRST" | "FIRST_VALUE" | "LAST" | "LAST_VALUE":
            least = aggregate.function.startswith("FIRST")
            if aggregate.condition is not None:
                chosen = only_if(panes.give(aggregate.condition), place.copy())
                first, last = panes.over(call("MIN", chosen), frame), panes.over(call("MAX", chosen.copy()), frame)
            return panes.pick(first if least else last, aggregate.arguments[0], aggregate.type)
        case "MIN_BY" | "MAX_BY":
            return _extreme(aggregate, frame, panes)
        case "LAG" | "LEAD":
            offset = int(aggregate.arguments[1].name) if len(aggregate.arguments) > 1 else 1
            offset = min(offset, _FARTHEST)
            direction = exp.Add if aggregate.function == "LEAD" else exp.Sub
            meant = direction(this=place.copy(), expression=number(offset))
            inside = exp.Between(this=meant, low=first, high=last)
            inside_value = only_if(inside, meant.copy())
            value = panes.pick(inside_value, aggregate.arguments[0], aggregate.type)
            if len(aggregate.arguments) < 3:
                return value
            is_inside = panes.answer(inside.copy(), BOOLEAN)
            return either(is_inside, value, panes.renamed(aggregate.arguments[2]))
        case "ROW_NUMBER":
            before = exp.Sub(this=place.copy(), expression=first)
            return panes.answer(cast(exp.Add(this=before, expression=number(1)), INT), INT)
        case "RANK" if isinstance(frame, RowsFrame):
            own = panes.over(call("MIN", place), Frame(0, 0))
            earlier = call("GREATEST", exp.Sub(this=own, expression=first), number(0))
            return panes.answer(cast(exp.Add(this=earlier, expression=number(1)), INT), INT)
        case "RANK":
            upto = panes.over(call("COUNT", exp.Star()), Frame(frame.start, 0))
            peers = panes.over(call("COUNT", exp.Star()), Frame(0, 0))
            before = exp.Sub(this=upto, expression=peers)
            return panes.answer(cast(exp.Add(this=before, expression=number(1)), INT), INT)
        case "DENSE_RANK":
            times = _call_function("COUNT", panes.clock(), distinct=True)
            return panes.answer(cast(panes.over(times, replace(frame, end=0)), INT), INT)
        case function:
            raise AssertionError(function)


def _extreme(aggregate: Aggregate, frame: Frame | RowsFrame, panes: Panes) -> Expression:
    """MIN_BY and MAX_BY: of the rows with the least or greatest value the first one."""
    value, by = aggregate.arguments
    compared = panes.give(only_if(aggregate.condition, by))
    place = column("place")
    tie = place if aggregate.function == "MIN_BY" else exp.Neg(this=place)
    best = call(f"ARG_{aggregate.function[:3]}", place.copy(), call("ROW", compared, tie))
    known = exp.Filter(this=best, expression=exp.Where(this=exp.Not(this=is_null(compared.copy()))))
    return panes.pick(panes.over(known, frame), value, aggregate.type)


def _perhaps(value: Expression, type_: Type) -> Expression:
    """The value as one that may be NULL, and all inside of it: the row that it is taken of may not be there."""
    is_nested = isinstance(type_, Array | Map | Struct)
    return call("IF", exp.true(), cast(value, type_) if is_nested else value, exp.Null())


def _call_function(function: str, value: Expression, distinct: bool) -> Expression:
    return call(function, exp.Distinct(expressions=[value]) if distinct else value)


def _edge(distance: int) -> tuple[Expression | str, str | None]:
    if distance == 0:
        return "CURRENT ROW", None
    return number(abs(distance)), "PRECEDING" if distance < 0 else "FOLLOWING"


def _as_double(value: Expression, panes: Panes) -> Expression:
    return value if panes.type_of(value) == DOUBLE else cast(value, DOUBLE)


def _is_number(type_: Type) -> bool:
    return isinstance(type_, Decimal) or type_ in (*INTEGERS, FLOAT, DOUBLE, DATE)
