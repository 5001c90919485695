"""Small constructors of sqlglot nodes, so that the lowerings read like the SQL that they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from penstock.planner.plan import Column, Expression
from penstock.planner.types import TIME, TIMESTAMP, Type

# Largest first: the unit in which a length of time is written is the largest that divides it.
_UNITS = (("DAY", 86_400_000), ("HOUR", 3_600_000), ("MINUTE", 60_000), ("SECOND", 1_000), ("MILLISECOND", 1))


def column(name: str, *fields: str) -> Expression:
    """The column `name`, or the field of a field … of it."""
    node: Expression = exp.Column(this=exp.Identifier(this=name, quoted=True))
    for field in fields:
        node = exp.Dot(this=node, expression=exp.Identifier(this=field, quoted=True))
    return node


def column_of(relation: str, name: str) -> Expression:
    """The column `name` of one of the relations of a join."""
    return exp.Column(this=exp.Identifier(this=name, quoted=True), table=exp.Identifier(this=relation, quoted=True))


def columns(schema: Iterable[Column]) -> list[Expression]:
    """All columns of a schema, in order."""
    return [column(each.name) for each in schema]


def call(function: str, *arguments: Expression) -> Expression:
    """A call that is printed as it stands: sqlglot knows nothing about anonymous functions."""
    return exp.Anonymous(this=function, expressions=list(arguments))


def text(value: str) -> Expression:
    """A string literal."""
    return exp.Literal.string(value)


def number(value: int) -> Expression:
    """A whole number, negative ones as a negation."""
    literal: Expression = exp.Literal.number(abs(value))
    return exp.Neg(this=literal) if value < 0 else literal


def null(type_: Type) -> Expression:
    """NULL of a type."""
    return cast(exp.Null(), type_)


def cast(value: Expression, type_: Type) -> Expression:
    """CAST(value AS type)."""
    return exp.Cast(this=value, to=build_type(type_))


def build_type(type_: Type) -> exp.DataType:
    """The syntax of a type. sqlglot prints its own TIME as TIMESTAMP for Spark."""
    built = exp.DataType.build(str(type_), dialect="spark")
    for each in list(built.find_all(exp.DataType)):
        if each.this == exp.DType.TIME:
            each.set("this", exp.DType.USERDEFINED)
            each.set("kind", str(TIME))
    return built


def alias(value: Expression, name: str) -> Expression:
    """`value AS name`, or only the column where that says the same."""
    if isinstance(value, exp.Column) and value.name == name:
        return value
    return exp.Alias(this=value, alias=exp.Identifier(this=name, quoted=True))


def struct(**fields: Expression) -> Expression:
    """A struct with these fields."""
    return struct_of(fields.items())


def struct_of(fields: Iterable[tuple[str, Expression]]) -> Expression:
    """A struct whose fields may have any names."""
    return call("NAMED_STRUCT", *(node for name, value in fields for node in (text(name), value)))


def row_struct(schema: Iterable[Column]) -> Expression:
    """A row as a struct, with its columns as c0, c1 …."""
    return struct_of((f"c{place}", column(each.name)) for place, each in enumerate(schema))


def row_columns(schema: Iterable[Column], field: Callable[[str], Expression]) -> list[Expression]:
    """The columns of such a row under their names, given how to write a field of it."""
    return [alias(field(f"c{place}"), each.name) for place, each in enumerate(schema)]


def pair_columns(left: Iterable[Column], right: Iterable[Column]) -> dict[str, Expression]:
    """By their names the columns of a pair of such rows, which are called `left` and `right`."""
    sides = (("left", left), ("right", right))
    return {each.name: column(side, f"c{place}") for side, schema in sides for place, each in enumerate(schema)}


def function(*parameters: str, body: Callable[..., Expression]) -> Expression:
    """The lambda `(parameters) -> body`; the body is given the parameters' names."""
    return exp.Lambda(
        this=body(*parameters), expressions=[exp.Identifier(this=name, quoted=True) for name in parameters]
    )


def either(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    """CASE WHEN condition THEN then ELSE otherwise END."""
    return exp.Case(ifs=[exp.If(this=condition, true=then)], default=otherwise)


def only_if(condition: Expression | None, value: Expression) -> Expression:
    """The value where the condition is true, else NULL; just the value without a condition."""
    return value if condition is None else exp.Case(ifs=[exp.If(this=condition, true=value)])


def is_null(value: Expression) -> Expression:
    """`value IS NULL`."""
    return exp.Is(this=value, expression=exp.Null())


def both(*conditions: Expression | None) -> Expression | None:
    """All of the conditions that are given, None if there are none."""
    result: Expression | None = None
    for condition in conditions:
        if condition is not None:
            result = condition if result is None else exp.And(this=result, expression=condition)
    return result


def interval(milliseconds: int) -> Expression:
    """A length of time as an interval literal, in the largest unit that divides it."""
    quantity, unit = _in_units(milliseconds)
    return exp.Interval(this=text(str(quantity)), unit=exp.Var(this=unit))


def duration(milliseconds: int) -> Expression:
    """A length of time as the string that `window` and `session_window` take."""
    quantity, unit = _in_units(milliseconds)
    return text(f"{quantity} {unit.lower()}{'' if quantity == 1 else 's'}")


def floor_time(micros: Expression, step: int) -> Expression:
    """The last multiple of `step` milliseconds since 1970 that is at or before a count of microseconds, as a time."""
    return call("TIMESTAMP_MICROS", multiple(micros, step))


def multiple(micros: Expression, step: int) -> Expression:
    """The last multiple of `step` milliseconds at or before a count of microseconds."""
    return exp.Sub(this=micros, expression=call("PMOD", micros.copy(), number(step * 1000)))


def make_free_name(name: str, schema: Iterable[Column]) -> str:
    """The name, or with underscores behind it if a column has it."""
    taken = {each.name.lower() for each in schema}
    while name.lower() in taken:
        name += "_"
    return name


def moment(time: Expression) -> Expression:
    """The window that holds one time alone. Grouped by the time itself, Spark would drop rows of the very watermark."""
    return call("WINDOW", time, text("1 microsecond"))


def before_all(time: Expression) -> Expression:
    """False for every time that there is, which Spark does not know: a key that is the same in all rows."""
    return exp.LT(this=time, expression=cast(text("0001-01-01 00:00:00"), TIMESTAMP))


def beside_time(key: Expression, schema: Iterable[Column]) -> Expression:
    """A key of groups that have an event time already. Spark groups by no more than one: it is not told of others."""
    times = {each.name for each in schema if each.type == TIMESTAMP}
    if isinstance(key, exp.Column) and key.name in times:
        return call("TIMESTAMP_MICROS", call("UNIX_MICROS", key))
    return key


def shift_time(time: Expression, milliseconds: int) -> Expression:
    """`time` plus a length of time, in the form in which Spark's join recognises a bound."""
    if milliseconds == 0:
        return time
    operator = exp.Add if milliseconds > 0 else exp.Sub
    return operator(this=time, expression=interval(abs(milliseconds)))


def select(items: Iterable[Expression], source: str) -> exp.Select:
    """`SELECT items FROM source`; clauses are added with sqlglot's own `where`, `join` and `group_by`."""
    return exp.Select(expressions=list(items)).from_(table(source), copy=False)


def filter_rows(aggregate: Expression, condition: Expression) -> Expression:
    """`aggregate FILTER (WHERE condition)`."""
    return exp.Filter(this=aggregate, expression=exp.Where(this=condition))


def rows_where(condition: Expression, alias: str) -> exp.Subquery:
    """`(SELECT * FROM rows WHERE condition) AS alias`: some of the rows that DuckDB is given."""
    rows = select([exp.Star()], "rows").where(condition, copy=False)
    return exp.Subquery(this=rows, alias=exp.TableAlias(this=exp.Identifier(this=alias, quoted=True)))


def table(name: str) -> exp.Table:
    """A view by its name."""
    return exp.Table(this=exp.Identifier(this=name, quoted=True))


def _in_units(milliseconds: int) -> tuple[int, str]:
    unit, length = next((unit, length) for unit, length in _UNITS if milliseconds % length == 0)
    return milliseconds // length, unit
