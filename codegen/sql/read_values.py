"""Values as a file has them -> values of the declared types, or NULL where the type does not hold the value.

A parser is asked for a wire type, which holds whatever stands there; what is made here turns that into the declared
type. Nothing wraps, rounds or is cut: a value that does not fit makes its record malformed. No expression fails.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Literal, TypeAlias

from sqlglot import exp

from penstock.codegen.sql.trees import (
    both,
    build_type,
    call,
    cast,
    column,
    function,
    is_null,
    number,
    only_if,
    struct_of,
    text,
)
from penstock.planner.plan import Expression
from penstock.planner.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTEGERS,
    MOMENTS,
    SMALLINT,
    STRING,
    TIME,
    TIMESTAMP,
    TINYINT,
    Array,
    Decimal,
    Map,
    Simple,
    Struct,
    Type,
)

Format: TypeAlias = Literal["json", "csv", "parquet"]

_FRACTIONS = (FLOAT, DOUBLE)
_NUMBER = r"^ *[+-]?(?=\.?[0-9])[0-9]*\.?[0-9]*(?:[eE][+-]?[0-9]+)? *$"
_NOT_FINITE = r"(?i)^ *(?:[+-]?inf(?:inity)?|nan) *$"
_EXPONENT = r"^ *[+-]?(?=\.?[0-9])[0-9]*\.?[0-9]*[eE]([+-]?[0-9]{1,4}) *$"
_DECIMALS = r"\.([0-9]*?)0*[eE]"
_NOT_ZERO = "^[^eE]*[1-9]"
_DATE = r"^(?!0000)[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}$"
# Spark by itself takes AM and PM, and cuts nanoseconds off.
_CLOCK = r"^[0-9]{1,2}:[0-9]{1,2}(?::[0-9]{1,2}(?:\.[0-9]{0,6}0*)?)?$"
# Spark by itself takes a time without a date for one of today, a number for a year, and cuts nanoseconds off.
_TIME = r"(?s)^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[ T][0-9:]+(?:\.[0-9]{0,6}0*)?(?:[^0-9.:].*)?)?$"
_CALENDAR = ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999")
"""The times that other systems can hold, too."""


def wire_type(type_: Type, format_: Format) -> str:
    """What the parser of the format is asked for, as Spark writes it."""
    match type_:
        case Array():
            return f"ARRAY<{wire_type(type_.element, format_)}>"
        case Map():
            return f"MAP<{wire_type(type_.key, _of_keys(format_))}, {wire_type(type_.value, format_)}>"
        case Struct():
            return str(Struct(tuple((name, Simple(wire_type(each, format_))) for name, each in type_.fields)))
    if format_ == "csv" or (format_ == "json" and type_ in MOMENTS):
        return str(STRING)
    # For smaller types Spark would keep only the lower bits of a number.
    return str(INT if type_ in (TINYINT, SMALLINT) else type_)


def convert(value: Expression, type_: Type, format_: Format, depth: int = 0) -> Expression:
    """The value of a wire type in the declared type; NULL, or anything, where it does not fit.

    `depth`: in how many lambdas the expression stands, whose parameters have to be told apart.
    """
    if _is_as_declared(type_, format_):
        return value
    match type_:
        case Array():
            element = type_.element
            return call("TRANSFORM", value, _each(depth, lambda x: convert(x, element, format_, depth + 1)))
        case Struct():
            fields = [(name, convert(_field(value, name), each, format_, depth)) for name, each in type_.fields]
            return only_if(exp.Not(this=is_null(value.copy())), struct_of(fields))
        case Map():
            key, item = type_.key, type_.value
            keys = _keys(value, key, format_, depth)
            values = call("MAP_VALUES", value.copy())
            values = call("TRANSFORM", values, _each(depth, lambda x: convert(x, item, format_, depth + 1)))
            misfit = misfits(value, type_, format_, depth)
            assert misfit is not None, "the keys of a map may come twice"
            fits = exp.Not(this=call("COALESCE", misfit, exp.Boolean(this=False)))
            return only_if(fits, call("MAP_FROM_ARRAYS", keys, values))
    return parse(value, type_)


def misfits(
    value: Expression, type_: Type, format_: Format, depth: int = 0, converted: Expression | None = None
) -> Expression | None:
    """Whether the declared type does not hold the value, may be NULL if it does; None where it holds all values.

    `converted`: the value in the declared type, where that is known already.
    """
    match type_:
        case Array():
            return _any("EXISTS", value, type_.element, format_, depth)
        case Struct():
            parts = [misfits(_field(value, name), each, format_, depth) for name, each in type_.fields]
            return _either([part for part in parts if part is not None])
        case Map():
            keys = _keys(value, type_.key, format_, depth)
            distinct = call("SIZE", call("ARRAY_DISTINCT", keys.copy()))
            parts = [
                exp.GT(this=call("SIZE", keys), expression=distinct),
                _any("EXISTS", call("MAP_KEYS", value.copy()), type_.key, _of_keys(format_), depth),
                _any("EXISTS", call("MAP_VALUES", value.copy()), type_.value, format_, depth),
            ]
            return _either([part for part in parts if part is not None])
    converted = converted or convert(value, type_, format_, depth)
    parts = []
    if not _is_as_declared(type_, format_):
        parts.append(both(exp.Not(this=is_null(value.copy())), is_null(converted.copy())))
    if type_ == TIMESTAMP or (type_ == DATE and format_ == "parquet"):
        parts.append(exp.Not(this=_is_in_calendar(converted, type_)))
    if type_ == STRING and format_ == "parquet":
        parts.append(exp.Not(this=call("IS_VALID_UTF8", converted)))
    return _either([part for part in parts if part is not None])


def parse(value: Expression, type_: Type) -> Expression:
    """The text of a scalar value as that value. NULL where the text is not one, or the value does not fit.

    For a whole number, the result may have a wider type.
    """
    parsed = _try_cast(value, type_)
    if type_ == STRING:
        return value
    if type_ == BOOLEAN:
        words = ((True, "true"), (False, "false"))
        # As most are written: LOWER costs a second of CPU when Spark calls it first.
        texts = (value, call("LOWER", value.copy()))
        is_word = [(each, exp.EQ(this=of.copy(), expression=text(word))) for of in texts for each, word in words]
        return exp.Case(ifs=[exp.If(this=condition, true=exp.Boolean(this=each)) for each, condition in is_word])
    if type_ in _FRACTIONS:
        finite = exp.And(this=_matches(value, _NUMBER), expression=exp.Not(this=is_infinite(parsed)))
        return only_if(exp.Or(this=finite, expression=_matches(value, _NOT_FINITE)), parsed.copy())
    if isinstance(type_, Decimal):
        plain = rf"^ *[+-]?(?=\.?[0-9])[0-9]*(?:\.[0-9]{{0,{type_.scale}}}0*)? *$"
        is_exact = exp.Or(this=_matches(value, plain), expression=_has_few_decimals(value, type_.scale))
        return only_if(is_exact, parsed)
    if type_ == DATE:
        return only_if(_matches(value, _DATE), parsed)
    if type_ == TIMESTAMP:
        return only_if(exp.Or(this=_is_usual_time(value), expression=_matches(value, _TIME)), parsed)
    if type_ == TIME:
        return only_if(_matches(value, _CLOCK), parsed)
    assert type_ in INTEGERS, f"no text of a {type_}"
    return parsed


def is_infinite(value: Expression) -> Expression:
    """Whether a FLOAT or DOUBLE is too large in either direction to be a number."""
    return exp.EQ(this=call("ABS", value.copy()), expression=cast(text("Infinity"), DOUBLE))


def _of_keys(format_: Format) -> Format:
    """The keys of a JSON object are texts, as the fields of CSV are."""
    return "csv" if format_ == "json" else format_


def _is_as_declared(type_: Type, format_: Format) -> bool:
    """Whether the wire type is the declared one, and every value that the parser gives is meant."""
    match type_:
        case Array():
            return _is_as_declared(type_.element, format_)
        case Struct():
            return all(_is_as_declared(each, format_) for _, each in type_.fields)
        case Map():
            return _is_as_declared(type_.key, _of_keys(format_)) and _is_as_declared(type_.value, format_)
    return wire_type(type_, format_) == str(type_)


def _keys(value: Expression, key: Type, format_: Format, depth: int) -> Expression:
    keys, of_keys = call("MAP_KEYS", value.copy()), _of_keys(format_)
    if _is_as_declared(key, of_keys):
        return keys
    return call("TRANSFORM", keys, _each(depth, lambda x: convert(x, key, of_keys, depth + 1)))


def _any(predicate: str, values: Expression, type_: Type, format_: Format, depth: int) -> Expression | None:
    """Whether any of several values does not fit."""
    if misfits(column("x"), type_, format_) is None:
        return None
    return call(predicate, values.copy(), _each(depth, lambda x: misfits(x, type_, format_, depth + 1) or x))


def _each(depth: int, body: Callable[[Expression], Expression]) -> Expression:
    return function(f"x{depth}", body=lambda name: body(column(name)))


def _field(value: Expression, name: str) -> Expression:
    return exp.Dot(this=value.copy(), expression=exp.Identifier(this=name, quoted=True))


def _either(conditions: list[Expression]) -> Expression | None:
    return reduce(lambda left, right: exp.Or(this=left, expression=right), conditions) if conditions else None


def _try_cast(value: Expression, type_: Type) -> Expression:
    return exp.TryCast(this=value.copy(), to=build_type(type_))


def _matches(value: Expression, pattern: str) -> Expression:
    return exp.RegexpLike(this=value.copy(), expression=text(pattern))


def _is_usual_time(value: Expression) -> Expression:
    """Whether `_TIME` need not be asked about a text, because it matches if Spark takes the text for a time.

    It begins with a year of four digits, and has a clock. Seconds have at most six decimals, as few characters follow
    them. The pattern takes longer than Spark needs for the time. Bytes are found faster than characters. What
    Spark takes for a time has one byte for each character.
    """
    octets = cast(value.copy(), BINARY)

    def has(place: int, sign: str) -> Expression:
        found = call("SUBSTRING", octets.copy(), number(place), number(1))
        return exp.EQ(this=found, expression=cast(text(sign), BINARY))

    def is_long(low: int, high: int) -> Expression:
        return exp.Between(this=call("OCTET_LENGTH", value.copy()), low=number(low), high=number(high))

    clocks = [
        exp.And(this=is_long(20, 26), expression=has(20, ".")),
        exp.And(this=is_long(19, 21), expression=has(17, ":")),
    ]
    has_year = exp.And(this=exp.GTE(this=value.copy(), expression=text("0")), expression=has(5, "-"))
    return exp.And(this=has_year, expression=exp.Paren(this=exp.Or(this=clocks[0], expression=clocks[1])))


def _is_in_calendar(value: Expression, type_: Type) -> Expression:
    low, high = (cast(text(each[: 10 if type_ == DATE else None]), type_) for each in _CALENDAR)
    return exp.Between(this=value.copy(), low=low, high=high)


def _has_few_decimals(value: Expression, scale: int) -> Expression:
    """Whether a number with an exponent has no digit but 0 behind its first `scale` decimals."""
    decimals = call("REGEXP_EXTRACT", value.copy(), text(_DECIMALS), number(1))
    exponent = _try_cast(call("REGEXP_EXTRACT", value.copy(), text(_EXPONENT), number(1)), INT)
    places = exp.Sub(this=call("LENGTH", decimals), expression=exponent)
    is_short = exp.LTE(this=places, expression=number(scale))
    short_or_zero = exp.Or(this=is_short, expression=exp.Not(this=_matches(value, _NOT_ZERO)))
    return exp.And(this=_matches(value, _EXPONENT), expression=short_or_zero)
