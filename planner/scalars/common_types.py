"""Types of the syntax <-> types of the plan, and which type values of two types have in common.

The rules are Spark SQL's in ANSI mode, without its guesses: STRING has nothing in common with any other type.
"""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from penstock.diagnostics.codes.expression_types import T009, T015, T016
from penstock.diagnostics.diagnostic import Diagnostic
from penstock.diagnostics.source import Span
from penstock.planner.scalars.scopes import is_same_name
from penstock.planner.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTEGERS,
    INTERVAL,
    SMALLINT,
    STRING,
    TIME,
    TIMESTAMP,
    TINYINT,
    VOID,
    Array,
    Decimal,
    Map,
    Simple,
    Struct,
    Type,
    is_ordered,
)

MAX_PRECISION = 38
MAPS_ARE_UNEQUAL = "Maps have no order and no equality, nor has anything that holds one."
FLOATS = (FLOAT, DOUBLE)

_DType = exp.DataType.Type
_SIMPLE = {
    _DType.BOOLEAN: BOOLEAN,
    _DType.TINYINT: TINYINT,
    _DType.SMALLINT: SMALLINT,
    _DType.INT: INT,
    _DType.BIGINT: BIGINT,
    _DType.FLOAT: FLOAT,
    _DType.DOUBLE: DOUBLE,
    _DType.TEXT: STRING,
    _DType.VARCHAR: STRING,
    _DType.BINARY: BINARY,
    _DType.DATE: DATE,
    _DType.TIMESTAMP: TIMESTAMP,
    _DType.TIMESTAMPTZ: TIMESTAMP,
    _DType.TIME: TIME,
}
# Spark's TIMESTAMP is an instant, which sqlglot calls TIMESTAMPTZ.
_SYNTAX = {type_: kind for kind, type_ in _SIMPLE.items()} | {STRING: _DType.TEXT, TIMESTAMP: _DType.TIMESTAMPTZ}
_DIGITS = {TINYINT: 3, SMALLINT: 5, INT: 10, BIGINT: 20}
_NAMES = "BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL(p, s), STRING, BINARY, DATE, TIMESTAMP, TIME"


def type_of(data_type: exp.DataType, findings: list[Diagnostic]) -> Type | None:
    """The type that a column definition or CAST names; None for one that the dialect does not have (reported)."""
    kind, parameters, span = data_type.this, data_type.expressions, data_type.meta.get("span")
    simple = TIME if data_type.text("kind") == str(TIME) else _SIMPLE.get(kind)
    if simple is not None and not parameters:
        return simple
    if kind == _DType.DECIMAL:
        decimal = _decimal([int(parameter.name) for parameter in parameters])
        if decimal is not None:
            return decimal
    if kind == _DType.ARRAY and len(parameters) == 1:
        element = type_of(parameters[0], findings)
        return None if element is None else Array(element)
    if kind == _DType.MAP and len(parameters) == 2:
        key, value = type_of(parameters[0], findings), type_of(parameters[1], findings)
        return None if key is None or value is None else _sound(Map(key, value), span, findings)
    if kind == _DType.STRUCT and parameters:
        fields = [(field.name, type_of(field.args["kind"], findings)) for field in parameters]
        known = tuple((name, type_) for name, type_ in fields if type_ is not None)
        return _sound(Struct(known), span, findings) if len(known) == len(fields) else None
    problem = T009.at(span, name=data_type.sql("spark") if span is None else span.text)
    if kind == _DType.DECIMAL:
        findings.append(problem.because(f"1 <= precision <= {MAX_PRECISION} and 0 <= scale <= precision"))
    elif simple is STRING or kind == _DType.CHAR:
        findings.append(problem.because("texts have no length limit").with_hint(_propose_text(parameters)))
    else:
        findings.append(problem.with_hint(f"{_NAMES}, ARRAY<t>, MAP<k, v>, STRUCT<name: t>"))
    return None


def _propose_text(parameters: list[exp.Expression]) -> str:
    length = f", and SUBSTRING(text, 1, {parameters[0].name}) for its first characters" if parameters else ""
    return f"STRING{length}"


def _sound(type_: Type, span: Span | None, findings: list[Diagnostic]) -> Type | None:
    problem = type_problem(type_, span)
    if problem is None:
        return type_
    findings.append(problem)
    return None


def type_problem(type_: Type, span: Span | None) -> Diagnostic | None:
    """Why there are no values of a type whose parts are sound: its keys have no equality, or two fields one name."""
    match type_:
        case Map(key) if not is_ordered(key):
            return T016.at(span, type=key).because(MAPS_ARE_UNEQUAL)
        case Struct(fields):
            names = [name for name, _ in fields]
            twice = next((b for n, b in enumerate(names) if any(is_same_name(a, b) for a in names[:n])), None)
            return None if twice is None else T015.at(span, name=twice)
        case _:
            return None


def _decimal(parameters: list[int]) -> Decimal | None:
    precision, scale = (*parameters, *(10, 0)[len(parameters) :])
    return Decimal(precision, scale) if 0 <= scale <= precision and 1 <= precision <= MAX_PRECISION else None


def data_type(type_: Type) -> exp.DataType:
    """The syntax of a type, as Spark reads it."""
    match type_:
        case Simple():
            if type_ == INTERVAL:
                span = exp.IntervalSpan(this=exp.var("DAY"), expression=exp.var("SECOND"))
                return exp.DataType(this=exp.Interval(unit=span))
            # VOID is inside an array or map. sqlglot has no name for it, and prints its own TIME as TIMESTAMP.
            if type_ in (VOID, TIME):
                return exp.DataType(this=_DType.USERDEFINED, kind=str(type_))
            return exp.DataType(this=_SYNTAX[type_])
        case Decimal(precision, scale):
            sizes = [exp.DataTypeParam(this=exp.Literal.number(size)) for size in (precision, scale)]
            return exp.DataType(this=_DType.DECIMAL, expressions=sizes)
        case Array(element):
            return exp.DataType(this=_DType.ARRAY, expressions=[data_type(element)], nested=True)
        case Map(key, value):
            return exp.DataType(this=_DType.MAP, expressions=[data_type(key), data_type(value)], nested=True)
        case Struct(fields):
            names = [exp.to_identifier(name, quoted=True) for name, _ in fields]
            kinds = [data_type(field) for _, field in fields]
            definitions = [exp.ColumnDef(this=name, kind=kind) for name, kind in zip(names, kinds, strict=True)]
            return exp.DataType(this=_DType.STRUCT, expressions=definitions, nested=True)
        case _:
            assert_never(type_)


def cast(expression: exp.Expression, source: Type, target: Type) -> exp.Expression:
    """`expression` as a value of `target`: a CAST, or itself when the types are equal or `target` is VOID."""
    if source == target or target == VOID:
        return expression
    converted = exp.Cast(this=expression, to=data_type(target))
    if "span" in expression.meta:
        converted.meta["span"] = expression.meta["span"]
    return converted


def is_number(type_: Type) -> bool:
    """Whether values of the type can be added."""
    return isinstance(type_, Decimal) or type_ in INTEGERS or type_ in FLOATS


def integer_as_decimal(type_: Type) -> Type:
    """The decimal that holds every value of a whole-number type; any other type as it is."""
    return Decimal(_DIGITS[type_], 0) if isinstance(type_, Simple) and type_ in _DIGITS else type_


def common_type(left: Type, right: Type) -> Type | None:
    """The narrowest type that values of both take on in UNION ALL, CASE, COALESCE and comparisons, or None.

    As in Spark, DECIMAL gives up digits behind the point, and BIGINT digits as DOUBLE, rather than fail; `is_lossless`
    tells.
    """
    if left == right or right == VOID:
        return left
    if left == VOID:
        return right
    if is_number(left) and is_number(right):
        return _common_number(left, right)
    match left, right:
        case (Simple("DATE"), Simple("TIMESTAMP")) | (Simple("TIMESTAMP"), Simple("DATE")):
            return TIMESTAMP
        case Array(one), Array(other):
            element = common_type(one, other)
            return None if element is None else Array(element)
        case Map(key, value), Map(other_key, other_value):
            keys, values = common_type(key, other_key), common_type(value, other_value)
            return None if keys is None or values is None else Map(keys, values)
        case Struct(fields), Struct(others):
            return _common_struct(fields, others)
        case _:
            return None


def _common_number(left: Type, right: Type) -> Type:
    if left in FLOATS or right in FLOATS:
        return DOUBLE  # FLOAT with FLOAT was equal; FLOAT cannot hold every INT
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        one, other = integer_as_decimal(left), integer_as_decimal(right)
        assert isinstance(one, Decimal)
        assert isinstance(other, Decimal)
        scale = max(one.scale, other.scale)
        whole = max(one.precision - one.scale, other.precision - other.scale)
        excess = max(0, whole + scale - MAX_PRECISION)
        return Decimal(min(MAX_PRECISION, whole + scale), max(0, scale - excess))
    return max(left, right, key=INTEGERS.index)


def _common_struct(fields: tuple[tuple[str, Type], ...], others: tuple[tuple[str, Type], ...]) -> Type | None:
    if len(fields) != len(others):
        return None
    common = []
    for (name, type_), (other_name, other_type) in zip(fields, others, strict=True):
        field = common_type(type_, other_type)
        if field is None or not is_same_name(name, other_name):
            return None
        common.append((name, field))
    return Struct(tuple(common))


def is_lossless(source: Type, target: Type) -> bool:
    """Whether every value of `source` is the same value in `target`, and different ones stay different."""
    if source in (target, VOID):
        return True
    match integer_as_decimal(source), target:
        case Decimal(precision, scale), Decimal(target_precision, target_scale):
            return scale <= target_scale and precision - scale <= target_precision - target_scale
        case Decimal(), Simple():
            return (source, target) in _WIDENING
        case Array(element), Array(target_element):
            return is_lossless(element, target_element)
        case Map(key, value), Map(target_key, target_value):
            return is_lossless(key, target_key) and is_lossless(value, target_value)
        case Struct(fields), Struct(target_fields):
            return len(fields) == len(target_fields) and all(
                is_same_name(name, target_name) and is_lossless(field, target_field)
                for (name, field), (target_name, target_field) in zip(fields, target_fields, strict=True)
            )
        case Simple(), Simple():
            return (source, target) in ((FLOAT, DOUBLE), (DATE, TIMESTAMP))
        case _:
            return False


_WIDENING = frozenset(
    [(narrow, wide) for index, narrow in enumerate(INTEGERS) for wide in INTEGERS[index + 1 :]]
    + [(TINYINT, FLOAT), (SMALLINT, FLOAT), (TINYINT, DOUBLE), (SMALLINT, DOUBLE), (INT, DOUBLE)]
)
