"""Schemas in texts, as FROM_JSON takes them: a type, or names of columns with their types."""

from __future__ import annotations

from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Source
from penstock.parser import ast, parse
from penstock.planner.scalars.common_types import type_of
from penstock.planner.types import SMALLINT, TINYINT, Array, Map, Struct, Type


def read_schema(text: str) -> Type | None:
    """The type that a text names, such as `ARRAY<INT>` or `a INT, b STRING`; None if it names none."""
    for written in (text, f"STRUCT<{text}>"):
        findings: list[Diagnostic] = []
        named = _parse_type(written)
        type_ = None if named is None else type_of(named, findings)
        if type_ is not None:
            return type_
    return None


def _parse_type(text: str) -> exp.DataType | None:
    try:
        (statement,) = parse(Source("<schema>", f"SELECT CAST(NULL AS {text})"))
    except (CompileError, ValueError):
        return None
    query = statement.query if isinstance(statement, ast.QueryStatement) else None
    if not isinstance(query, ast.Select) or len(query.items) != 1 or not isinstance(query.relation, ast.NoTable):
        return None
    cast = query.items[0].value
    return cast.to if isinstance(cast, exp.Cast) and isinstance(cast.this, exp.Null) else None


def schema_problem(text: str) -> str | None:
    """Why Spark does not read values of this schema exactly, None if it does."""
    type_ = read_schema(text)
    if type_ is None:
        return "it names no types"
    if isinstance(type_, Array | Map | Struct):
        return _part_problem(type_)
    return f"it has to be a struct or an array; TRY_CAST(text AS {type_}) reads a single value"


def flat_schema_problem(text: str) -> str | None:
    """The same where values have no parts."""
    type_ = read_schema(text)
    if isinstance(type_, Struct) and any(isinstance(each, Array | Map | Struct) for _, each in type_.fields):
        return "a field of CSV has no parts"
    return "it has to be a struct" if isinstance(type_, Array) else schema_problem(text)


def _part_problem(type_: Type) -> str | None:
    match type_:
        case Array():
            return _part_problem(type_.element)
        case Struct():
            problems = (_part_problem(each) for _, each in type_.fields)
            return next((each for each in problems if each is not None), None)
        case Map():
            return "keys may come twice in a text, and not in a MAP; a struct names them"
    if type_ in (TINYINT, SMALLINT):
        return "Spark takes the lower bits of numbers that do not fit it; INT has more"
    return None
