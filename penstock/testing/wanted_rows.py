"""A condition -> values of columns that make it true or not, and rows of an operator -> rows of declared relations.

Both are guesses: what they give is tried before it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Context, Decimal
from typing import TypeAlias

from sqlglot import exp

from penstock.evaluator import QueryFailure, Row, Unsupported, Value, cast, columns, evaluate_scalar
from penstock.planner.plan import (
    Aggregate,
    Filter,
    ForeignKeyJoin,
    GroupAggregate,
    IntervalJoin,
    JoinType,
    KStream,
    Node,
    Project,
    Ranked,
    RemoteLookup,
    Scan,
    TableJoin,
    TableLookup,
    TableRanked,
    UnionAll,
    WindowAggregate,
    WTable,
)
from penstock.planner.types import BOOLEAN, DATE, DOUBLE, FLOAT, INTEGERS, STRING, TIME, TIMESTAMP, Type
from penstock.planner.types import Decimal as DecimalType
from penstock.testing.coverage_classes import column_name
from penstock.testing.given_values import START

Types: TypeAlias = Mapping[str, Type]
Traced: TypeAlias = list[tuple[str, Row]]
"""Rows of declared relations, by what their columns should be."""
MILLISECOND = timedelta(milliseconds=1)
DELETES = "#deletes"
"""A column that no script can name."""
WIDE = Context(prec=80)
"""Room for the digits of all numbers."""
MOST_COPIES = 12
"""Rows that a group may need for a number that is wanted."""
OPPOSITES: dict[type[exp.Expression], type[exp.Expression]] = {
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
    exp.GT: exp.LTE,
    exp.LTE: exp.GT,
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
}
MIRRORED: dict[type[exp.Expression], type[exp.Expression]] = {
    exp.LT: exp.GT,
    exp.GT: exp.LT,
    exp.LTE: exp.GTE,
    exp.GTE: exp.LTE,
}


def plain_value(type_: Type) -> Value:
    """A value of a type, None if none is known."""
    match type_:
        case DecimalType():
            return cast(Decimal(type_.precision > type_.scale), type_)
        case _ if type_ in INTEGERS:
            return 1
        case _ if type_ in (DOUBLE, FLOAT):
            return 1.0
    plain: dict[Type, Value] = {STRING: "a", BOOLEAN: True, TIMESTAMP: START, DATE: START.date(), TIME: START.time()}
    return plain.get(type_)


def vary_value(type_: Type, place: int) -> Value:
    """One of several values of a type. Times are all the same."""
    value = plain_value(type_)
    match value:
        case bool() | None:
            return value
        case str():
            return chr(ord("a") + place % 26)
        case Decimal():
            known = fit_column(value + place, type_)
            return value if known is None else known
        case int() | float():
            return value + place % 100
        case _:
            return value


def constant_value(expression: exp.Expression) -> Value:
    """The value of an expression without columns, None if it has columns or is not known."""
    if expression.find(exp.Column, exp.Identifier, exp.Lambda) is not None:
        return None
    try:
        return evaluate_scalar(expression, {}, {})
    except (Unsupported, QueryFailure, TypeError, ValueError, LookupError, ArithmeticError):
        return None


def step_value(value: Value, type_: Type, steps: int) -> Value:
    """The value some units on: numbers by their last digit, times by a millisecond. None if the type has no unit."""
    match value:
        case bool():
            return None
        case Decimal():
            unit = Decimal(1).scaleb(-type_.scale) if isinstance(type_, DecimalType) else Decimal(1)
            return WIDE.add(value, steps * unit)
        case int() | float():
            return value + steps
        case datetime():
            return value + steps * MILLISECOND
        case date():
            return value + timedelta(days=steps)
        case time():
            return (datetime.combine(START, value) + steps * MILLISECOND).time()
        case str():
            return value + "~" * steps if steps >= 0 else None
        case _:
            return None


def fit_column(value: Value, type_: Type) -> Value:
    """A value of a comparison as the type of a column has it, None if it has none."""
    try:
        return cast(value, type_)
    except (Unsupported, QueryFailure, TypeError, ValueError, ArithmeticError, AttributeError):
        return None


def solve(condition: exp.Expression, types: Types, *, wanted: bool = True) -> Row:
    """Values of columns with which a condition is likely to be true, or false."""
    match condition:
        case exp.Paren():
            return solve(condition.this, types, wanted=wanted)
        case exp.Not():
            return solve(condition.this, types, wanted=not wanted)
        case exp.And() | exp.Or():
            first, second = (solve(each, types, wanted=wanted) for each in (condition.this, condition.expression))
            if wanted == isinstance(condition, exp.And):
                return second | first if isinstance(condition, exp.Or) else first | second
            return first or second
        case exp.Column():
            return {condition.name: wanted}
        case exp.Is():
            name = column_name(condition.this)
            if name is None or not isinstance(condition.expression, exp.Null):
                return {}
            return {name: None if wanted else plain_value(types[name])}
        case exp.In():
            values = [constant_value(each) for each in condition.expressions]
            return solve_equal(condition.this, values[0] if values else None, types, wanted=wanted, others=values)
        case exp.Between():
            low, high = constant_value(condition.args["low"]), constant_value(condition.args["high"])
            value = low if wanted else high
            return solve_comparison(condition.this, exp.GTE if wanted else exp.GT, value, types)
        case exp.Like() | exp.ILike():
            pattern = constant_value(condition.expression)
            text = pattern.replace("%", "").replace("_", "a") if isinstance(pattern, str) else None
            return solve_equal(condition.this, text, types, wanted=wanted, others=[text])
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            kind = type(condition) if wanted else OPPOSITES[type(condition)]
            left, right = constant_value(condition.this), constant_value(condition.expression)
            if right is not None:
                return solve_comparison(condition.this, kind, right, types)
            if left is not None:
                return solve_comparison(condition.expression, MIRRORED.get(kind, kind), left, types)
            return solve_columns(condition, kind, types)
        case _:
            return {}


def solve_equal(side: exp.Expression, value: Value, types: Types, *, wanted: bool, others: Iterable[Value]) -> Row:
    """The column as the value, or as none of the others."""
    if wanted:
        return solve_comparison(side, exp.EQ, value, types)
    known = [each for each in others if each is not None]
    if known and all(isinstance(each, str) for each in known):
        return solve_comparison(side, exp.EQ, find_other(known), types)
    try:
        return solve_comparison(side, exp.GT, max(known), types) if known else {}
    except TypeError:
        return {}


def find_other(texts: Sequence[str]) -> str:
    """A short text that is none of these."""
    return next(each for each in ("a", "b", "c", *(text + "~" for text in texts)) if each not in texts)


def solve_comparison(side: exp.Expression, kind: type[exp.Expression], value: Value, types: Types) -> Row:
    """The column beside a value: the value itself if it may be, or one unit from it."""
    name = column_name(side)
    if name is None or value is None:
        return {}
    type_ = types[name]
    known = fit_column(value, type_)
    if known is None:
        return {}
    if kind is exp.NEQ and isinstance(known, str):
        known = find_other([known])
    elif kind in (exp.NEQ, exp.GT):
        known = not known if isinstance(known, bool) else step_value(known, type_, 1)
    elif kind is exp.LT:
        known = step_value(known, type_, -1)
    return {} if known is None else {name: known}


def solve_columns(condition: exp.Expression, kind: type[exp.Expression], types: Types) -> Row:
    """Two columns that are compared."""
    left, right = column_name(condition.this), column_name(condition.expression)
    if left is None or right is None:
        return {}
    value = plain_value(types[right])
    return solve_comparison(condition.this, kind, value, types) | ({} if value is None else {right: value})


def trace(node: Node, wanted: Row, *, partners: bool = False) -> Traced:
    """The rows of declared relations that are likely to become a row of an operator.

    The name DELETES stands for a record that deletes the row. `partners`: also the rows that keep it out.
    """
    is_gone = DELETES in wanted
    pending: list[tuple[Node, Row]] = [(node, {name: value for name, value in wanted.items() if name != DELETES})]
    traced: Traced = []
    while pending:
        node, wanted = pending.pop(0)
        if isinstance(node, Scan):
            names = {each.name for each in node.schema}
            row = {name: value for name, value in wanted.items() if name in names}
            operation = node.origin.operation
            traced.append((node.origin.name, row | ({operation: "delete"} if is_gone and operation else {})))
        else:
            if isinstance(node, RemoteLookup):
                traced.append((node.origin.name, trace_remote(node, wanted)))
            pending[:0] = trace_operator(node, wanted, partners=partners)
    return traced


def trace_remote(node: RemoteLookup, wanted: Row) -> Row:
    """The row of a database that is looked up."""
    types, row = columns(node.input.schema), Row()
    for key in node.keys:
        name = column_name(key.value)
        if name is not None:
            row[key.column] = wanted.get(name, plain_value(types[name]))
    return row


def trace_operator(node: Node, wanted: Row, *, partners: bool = False) -> list[tuple[Node, Row]]:
    """The rows of its inputs that are likely to become a row of an operator."""
    if isinstance(node, Filter):
        return [(node.input, solve(node.condition, columns(node.input.schema)) | wanted)]
    if isinstance(node, Project):
        named = {item.name: column_name(item.value) for item in node.items}
        return [(node.input, {name: wanted[own] for own, name in named.items() if own in wanted and name is not None})]
    if isinstance(node, UnionAll):
        first = node.inputs[0]
        names = dict(zip((each.name for each in node.schema), (each.name for each in first.schema), strict=True))
        return [(first, {names[name]: value for name, value in wanted.items() if name in names})]
    if isinstance(node, WindowAggregate | GroupAggregate):
        return trace_group(node, wanted)
    if isinstance(node, IntervalJoin):
        type_ = JoinType.SEMI if partners else node.type
        return trace_pair(node, node.left, node.right, node.equalities, wanted, type_)
    if isinstance(node, ForeignKeyJoin):
        type_ = JoinType.SEMI if partners else node.type
        return trace_pair(node, node.left, node.right, node.equalities, wanted, type_)
    if isinstance(node, TableLookup):
        type_ = JoinType.SEMI if partners else node.type
        pair = trace_pair(node, node.stream, node.table, node.equalities, wanted, type_)
        return pair[::-1]  # the table has to be there first
    if isinstance(node, TableJoin):
        return trace_tables(node, wanted)
    if isinstance(node, Ranked | TableRanked):
        places = [value for each in node.rankings if isinstance(value := wanted.get(each.name), int)]
        if places:
            return rank_rows(node, min(max(places), MOST_COPIES))
    return [(each, wanted) for each in node.inputs[:1]]


def trace_group(node: WindowAggregate | GroupAggregate, wanted: Row) -> list[tuple[Node, Row]]:
    """Rows of one group: as many as COUNT should be, with the value that another aggregate should have."""
    types, row, copies = columns(node.input.schema), Row(), 1
    for key in node.keys:
        name = column_name(key.value)
        if name is not None and key.name in wanted:
            row[name] = wanted[key.name]
    if isinstance(node, WindowAggregate) and "window_start" in wanted:
        row[node.time] = wanted["window_start"]
    elif isinstance(node, WindowAggregate) and isinstance(wanted.get("window_end"), datetime):
        row[node.time] = wanted["window_end"] - MILLISECOND
    for each in node.aggregates:
        value = wanted.get(each.name)
        if value is None:
            continue
        if each.condition is not None:
            row = solve(each.condition, types) | row
        if each.function == "COUNT":
            copies = max(copies, min(int(value), MOST_COPIES))
        elif (name := column_name(each.arguments[0])) is not None:
            known = fit_column(value, types[name])
            row |= {} if known is None else {name: known}
    for key in node.keys if copies > 1 else ():
        name = column_name(key.value)
        if name is not None and name not in row:  # all copies are of one group, and other numbers are of another one
            row[name] = step_value(plain_value(types[name]), types[name], copies)
    distinct = next((name for each in node.aggregates if (name := counted_once(each)) and each.name in wanted), None)
    return [(node.input, row | spread(distinct, place, types)) for place in range(copies)]


def rank_rows(node: Ranked | TableRanked, number: int) -> list[tuple[Node, Row]]:
    """So many rows of one partition, each with a place of its own."""
    below, types = node.input, columns(node.input.schema)
    same = {name: plain_value(types[name]) for each in node.partition_by if (name := column_name(each)) is not None}
    sorting = [name for each in node.rankings for key in each.order_by if (name := column_name(key.value)) is not None]
    own = [*sorting, *(() if isinstance(below.shape, KStream) else below.shape.identity)]
    return [
        (
            below,
            {name: step_value(plain_value(types[name]), types[name], place) for name in own if name in types} | same,
        )
        for place in range(number)
    ]


def counted_once(aggregate: Aggregate) -> str | None:
    """The column whose different values are counted."""
    return column_name(aggregate.arguments[0]) if aggregate.distinct and aggregate.arguments else None


def spread(name: str | None, place: int, types: Types) -> Row:
    """A value of its own for each row of a group."""
    if name is None:
        return {}
    value = plain_value(types[name])
    if isinstance(value, str):
        return {name: value + "~" * place}
    return {name: step_value(value, types[name], place)}


def trace_pair(
    node: Node,
    left: Node,
    right: Node,
    equalities: Iterable[tuple[exp.Expression, exp.Expression]],
    wanted: Row,
    type_: JoinType,
) -> list[tuple[Node, Row]]:
    """A row of each side with equal keys, and with times that meet; one alone if the other side should be NULL."""
    types = {**columns(left.schema), **columns(right.schema)}
    condition = node.residual if isinstance(node, IntervalJoin) else getattr(node, "condition", None)
    whole = ({} if condition is None else solve(condition, types)) | wanted
    sides = [{each.name: whole[each.name] for each in side.schema if each.name in whole} for side in (left, right)]
    if type_ in (JoinType.LEFT, JoinType.FULL, JoinType.ANTI) and is_absent(sides[1], wanted):
        return [(left, sides[0])]
    if type_ in (JoinType.RIGHT, JoinType.FULL) and is_absent(sides[0], wanted):
        return [(right, sides[1])]
    if type_ is JoinType.ANTI:
        return [(left, sides[0])]
    if is_absent(sides[1], wanted):  # a partner that keeps the row out
        sides[1] = {name: value for name, value in sides[1].items() if value is not None}
    for one, other in equalities:
        names = column_name(one), column_name(other)
        if names[0] is None or names[1] is None:
            continue
        value = sides[0].get(names[0], sides[1].get(names[1], plain_value(types[names[0]])))
        sides[0].setdefault(names[0], value)
        sides[1].setdefault(names[1], value)
    if isinstance(node, IntervalJoin):
        time = sides[0].setdefault(node.left_time, START)
        lower, upper = node.bound.lower, node.bound.upper
        apart = min(max(0, lower.milliseconds + (not lower.closed)), upper.milliseconds)
        sides[1].setdefault(node.right_time, time + apart * MILLISECOND)
    return [(left, sides[0]), (right, sides[1])]


def is_absent(side: Row, wanted: Row) -> bool:
    """Whether all that is wanted of a side is NULL."""
    asked = [value for name, value in side.items() if name in wanted]
    return bool(asked) and all(value is None for value in asked)


def trace_tables(node: TableJoin, wanted: Row) -> list[tuple[Node, Row]]:
    """A row of each side with the same key."""
    traced: list[tuple[Node, Row]] = []
    keys, latest = list(node.identity), max(side.shift for side in node.sides)
    for side in node.sides:
        row = {each.name: wanted[each.name] for each in side.input.schema if each.name in wanted}
        for name, key in zip(keys, side.keys, strict=False):
            own = column_name(key)
            if own is not None:
                row.setdefault(own, wanted.get(name, plain_value(side.input.column(own).type)))
        if isinstance(side.input.shape, WTable):
            row.setdefault(side.input.shape.start, START + (latest - side.shift) * MILLISECOND)
        traced.append((side.input, row))
    return traced


def list_parts(expression: exp.Expression, kind: type[exp.Expression]) -> Iterator[exp.Expression]:
    """The operands of AND or OR, without the brackets around them."""
    while isinstance(expression, exp.Paren):
        expression = expression.this
    if isinstance(expression, kind):
        yield from list_parts(expression.this, kind)
        yield from list_parts(expression.expression, kind)
    else:
        yield expression
