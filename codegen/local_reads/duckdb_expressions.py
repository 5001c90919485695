"""Expressions of a plan -> the same for DuckDB, where it is known that both give the same value, or an error.

An error of DuckDB is no answer: Spark is asked then. So what may overflow needs no care, as long as both fail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from sqlglot import exp

from penstock.codegen.sql.trees import column_of
from penstock.planner.plan import Column, Expression
from penstock.planner.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTEGERS,
    STRING,
    TIMESTAMP,
    VOID,
    Decimal,
    Struct,
    Type,
)

COLUMN = "c"
PLAIN_TYPES = (*INTEGERS, BOOLEAN, DATE, DOUBLE, STRING, TIMESTAMP)
"""With decimals the types that a small read knows. A DOUBLE is a plain number here, never -0.0, NaN or infinite."""
_DEEPEST = 100
_DIGITS = dict(zip(INTEGERS, (3, 5, 10, 19), strict=True))
_WHOLE = re.compile(r"[0-9]{1,18}")
_EXACT = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?")
_DATE_TEXT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME_TEXT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?")
_EPOCHS = {"TIMESTAMP_SECONDS": 1_000_000, "TIMESTAMP_MILLIS": 1_000, "TIMESTAMP_MICROS": 1}
"""Functions that count from 1970, and how many microseconds their unit has."""
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)

Typed = tuple[Expression, Type]


class UnknownError(Exception):
    """Something is not known to mean the same to DuckDB."""


@dataclass(frozen=True, slots=True)
class LocalScope:
    """The columns that an expression can name, and the values that it gives to parameters."""

    known: Mapping[str, Typed]
    relation: str
    constants: MutableMapping[str, object]

    @classmethod
    def over(cls, schema: Sequence[Column], relation: str, constants: MutableMapping[str, object]) -> LocalScope:
        """The columns of a SELECT."""
        columns = {each.name: (column_of(relation, f"{COLUMN}{n}"), each.type) for n, each in enumerate(schema)}
        return cls(columns, relation, constants)

    def beside(self, other: LocalScope) -> LocalScope:
        """The columns of both sides of a join."""
        return LocalScope({**self.known, **other.known}, self.relation, self.constants)

    @property
    def columns(self) -> list[Expression]:
        """All columns, in order."""
        return [tree for tree, _ in self.known.values()]

    @property
    def types(self) -> list[Type]:
        """Their types."""
        return [type_ for _, type_ in self.known.values()]

    def find(self, name: str) -> Typed:
        """A column; raises UnknownError."""
        if name not in self.known:
            raise UnknownError
        tree, type_ = self.known[name]
        return tree.copy(), type_

    def parameter(self, value: object) -> Expression:
        """A value that is given to DuckDB beside its SQL."""
        name = f"p{len(self.constants)}"
        self.constants[name] = value
        return exp.Placeholder(this=name)


def cast(value: Expression, type_: Type) -> Expression:
    """CAST(value AS type). Times have no zone in DuckDB. They are in UTC."""
    name = "VARCHAR" if type_ == STRING else str(type_)
    return exp.Cast(this=value, to=exp.DataType.build(name, dialect="duckdb"))


def lower(value: Expression, scope: LocalScope, wanted: Type | None = None) -> Typed:
    """The expression for DuckDB, and its type. `wanted`: the type that it has to have.

    Raises:
        UnknownError: a part of it is not known to mean the same.
    """
    tree, type_ = _lower(value, scope, 0)
    if type_ == VOID and wanted not in (None, VOID):
        return cast(tree, wanted), wanted
    if wanted is not None and type_ != wanted:
        raise UnknownError
    return tree, type_


def _lower(value: Expression, scope: LocalScope, depth: int) -> Typed:
    if depth > _DEEPEST:
        raise UnknownError

    def down(each: Expression) -> Typed:
        return _lower(each, scope, depth + 1)

    def truth(each: Expression) -> Expression:
        tree, type_ = down(each)
        if type_ not in (BOOLEAN, VOID):
            raise UnknownError
        return cast(tree, BOOLEAN) if type_ == VOID else tree

    def alike(each: Sequence[Expression]) -> tuple[list[Expression], Type]:
        """The values, all of which have one type but NULLs without any."""
        typed = [down(part) for part in each]
        types = {type_ for _, type_ in typed if type_ != VOID}
        if len(types) != 1:
            raise UnknownError
        (only,) = types
        return [cast(tree, only) if type_ == VOID else tree for tree, type_ in typed], only

    match value:
        case exp.Column() if isinstance(value.this, exp.Identifier) and not value.table:
            return scope.find(value.name)
        case exp.Paren():
            return down(value.this)
        case exp.Null():
            return exp.Null(), VOID
        case exp.Boolean():
            return value.copy(), BOOLEAN
        case exp.Literal():
            return _lower_literal(value, scope)
        case exp.TryCast():
            raise UnknownError
        case exp.Cast():
            return _lower_cast(value, scope, depth)
        case exp.And() | exp.Or():
            return type(value)(this=truth(value.this), expression=truth(value.expression)), BOOLEAN
        case exp.Not():
            return exp.Not(this=truth(value.this)), BOOLEAN
        case exp.Is() if isinstance(value.expression, exp.Null):
            return exp.Is(this=down(value.this)[0], expression=exp.Null()), BOOLEAN
        case exp.In() if value.expressions and not value.args.get("query"):
            (first, *others), _ = alike([value.this, *value.expressions])
            return exp.In(this=first, expressions=others), BOOLEAN
        case exp.Between() if not value.args.get("symmetric"):
            (middle, low, high), _ = alike([value.this, value.args["low"], value.args["high"]])
            return exp.Between(this=middle, low=low, high=high), BOOLEAN
        case exp.Like():
            return _lower_like(value, scope, down)
        case exp.Case() if value.this is None:
            ends = [each.args["true"] for each in value.args["ifs"]]
            otherwise = value.args.get("default")
            trees, type_ = alike([*ends, otherwise or exp.Null()])
            conditions = [truth(each.this) for each in value.args["ifs"]]
            ifs = [exp.If(this=when, true=then) for when, then in zip(conditions, trees, strict=False)]
            return exp.Case(ifs=ifs, default=trees[-1]), type_
        case exp.Anonymous() if value.name.upper() in ("COALESCE", "NULLIF"):
            trees, type_ = alike(value.expressions)
            return exp.Anonymous(this=value.name.upper(), expressions=trees), type_
        case exp.Anonymous() if value.name.upper() in _EPOCHS and len(value.expressions) == 1:
            tree, type_ = down(value.expressions[0])
            if type_ not in INTEGERS:
                raise UnknownError
            unit = exp.Literal.number(_EPOCHS[value.name.upper()])
            micros = exp.Mul(this=cast(tree, BIGINT), expression=cast(unit, BIGINT))
            return exp.Anonymous(this="MAKE_TIMESTAMP", expressions=[micros]), TIMESTAMP
        case exp.Dot() if isinstance(value.expression, exp.Identifier):
            tree, type_ = down(value.this)
            fields = dict(type_.fields) if isinstance(type_, Struct) else {}
            if value.expression.name not in fields:
                raise UnknownError
            field = exp.to_identifier(value.expression.name, quoted=True)
            return exp.Dot(this=tree, expression=field), fields[value.expression.name]
        case exp.DPipe():
            trees, type_ = alike([value.this, value.expression])
            if type_ != STRING:
                raise UnknownError
            return exp.DPipe(this=trees[0], expression=trees[1]), STRING
        case exp.Add() | exp.Sub() | exp.Mul():
            trees, type_ = alike([value.this, value.expression])
            if type_ not in INTEGERS:
                raise UnknownError
            return type(value)(this=trees[0], expression=trees[1]), type_
    if isinstance(value, _COMPARISONS):
        trees, _ = alike([value.this, value.expression])
        return type(value)(this=trees[0], expression=trees[1]), BOOLEAN
    raise UnknownError


def _lower_literal(value: exp.Literal, scope: LocalScope) -> Typed:
    if value.is_string:
        return scope.parameter(value.name), STRING
    if not _WHOLE.fullmatch(value.name):
        raise UnknownError
    type_ = INT if int(value.name) < 1 << 31 else BIGINT
    return cast(value.copy(), type_), type_


def _lower_cast(value: exp.Cast, scope: LocalScope, depth: int) -> Typed:
    wanted, inner = _find_type(value.to), value.this
    if isinstance(inner, exp.Literal):
        return _constant(inner, wanted, scope), wanted
    tree, type_ = _lower(inner, scope, depth + 1)
    if type_ in (wanted, VOID) or _widens(type_, wanted):
        return cast(tree, wanted), wanted
    raise UnknownError


def _constant(literal: exp.Literal, wanted: Type, scope: LocalScope) -> Expression:
    """A literal that is cast."""
    written = literal.name
    try:
        if literal.is_string and wanted == DATE and _DATE_TEXT.fullmatch(written):
            return cast(scope.parameter(date.fromisoformat(written)), DATE)
        if literal.is_string and wanted == TIMESTAMP and _TIME_TEXT.fullmatch(written):
            return cast(scope.parameter(datetime.fromisoformat(written)), TIMESTAMP)
    except ValueError:
        raise UnknownError from None
    if literal.is_string and wanted == STRING:
        return scope.parameter(written)
    if not literal.is_string and wanted in INTEGERS and _WHOLE.fullmatch(written):
        return cast(literal.copy(), wanted)
    if not literal.is_string and wanted == DOUBLE and _EXACT.fullmatch(written):
        return cast(scope.parameter(float(written)), DOUBLE)
    if not literal.is_string and isinstance(wanted, Decimal) and _EXACT.fullmatch(written):
        decimals = len(written.partition(".")[2])
        if decimals <= wanted.scale:
            return cast(literal.copy(), wanted)
    raise UnknownError


def _widens(narrow: Type, wide: Type) -> bool:
    """Whether each value of one type is one of the other, to both systems."""
    if narrow in INTEGERS and wide in INTEGERS:
        return INTEGERS.index(narrow) <= INTEGERS.index(wide)
    if narrow in INTEGERS and isinstance(wide, Decimal):
        return wide.precision - wide.scale >= _DIGITS[narrow]
    if isinstance(narrow, Decimal) and isinstance(wide, Decimal):
        return wide.scale >= narrow.scale and wide.precision - wide.scale >= narrow.precision - narrow.scale
    return False


def _lower_like(value: exp.Like, scope: LocalScope, down: Callable[[Expression], Typed]) -> Typed:
    tree, type_ = down(value.this)
    pattern = value.expression
    # In Spark's pattern a backslash escapes, in DuckDB's nothing does.
    if type_ != STRING or not isinstance(pattern, exp.Literal) or "\\" in pattern.name:
        raise UnknownError
    return exp.Like(this=tree, expression=scope.parameter(pattern.name)), BOOLEAN


def _find_type(written: exp.DataType) -> Type:
    text = written.sql(dialect="spark")
    digits = re.fullmatch(r"DECIMAL\((\d+), (\d+)\)", text)
    if digits:
        return Decimal(int(digits[1]), int(digits[2]))
    known = next((each for each in PLAIN_TYPES if str(each) == text), None)
    if known is None:
        raise UnknownError
    return known
