"""Columns of CREATE that no record holds, and values that an INSERT leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.event_time import W014
from penstock.diagnostics.codes.kinds import K010, K021
from penstock.parser import ast
from penstock.planner import scalars
from penstock.planner.catalog import Catalog, Declared
from penstock.planner.functions import clock_calls
from penstock.planner.lower.context import resolve_scalar
from penstock.planner.plan import Column, Named
from penstock.planner.scalars.failing import NoExactFormError, try_expression
from penstock.planner.scalars.scopes import Scope, ScopeColumn
from penstock.planner.types import TIMESTAMP


def stored_definitions(statement: ast.Create) -> list[ast.ColumnDefinition]:
    """The columns that records hold."""
    return [each for each in statement.columns if isinstance(each, ast.ColumnDefinition)]


def read_computed(statement: ast.Create, stored: tuple[Column, ...], findings: list[Diagnostic]) -> tuple[Named, ...]:
    """The computed columns, each over the columns before it. What is wrong goes to `findings`."""
    scope = Scope(tuple(ScopeColumn(statement.name.text, each.name, each.name, each.type) for each in stored))
    names = {each.name.lower(): each.name for each in stored}
    found: list[Named] = []
    for definition in statement.columns:
        if not isinstance(definition, ast.ComputedColumn):
            continue
        name = definition.name
        if name.folded in names:
            findings.append(K010.at(name.span, "here again", name=name.text))
        names[name.folded] = name.text
        typed = scalars.resolve(definition.value, scope, findings)
        if typed is not None:
            found.append(Named(name.text, typed.expression, typed.type))
    return tuple(found)


def read_computed_time(
    statement: ast.Create, computed: tuple[Named, ...], findings: list[Diagnostic]
) -> tuple[Column | None, exp.Expression | None]:
    """The event time where it is a computed column, and its value; what is wrong goes to `findings`.

    Where a form of the value gives NULL instead of failing, a record for which it fails has no event time.
    """
    watermark = statement.watermark
    time = next((each for each in computed if watermark and each.name.lower() == watermark.column.folded), None)
    if watermark is None or time is None:
        return None, None
    span = watermark.column.span
    if time.type != TIMESTAMP:
        return Column(time.name, time.type), None  # which is no event time
    for call in clock_calls(time.value):
        findings.append(W014.at(call.meta.get("span", span), "", operator="a watermark"))
    try:
        value = try_expression(time.value).value
    except NoExactFormError:
        value = time.value
    return Column(time.name, time.type), value


def place_columns(statement: ast.Create, columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns in the order of the declaration."""
    known = {each.name.lower(): each for each in columns}
    return tuple(known[each.name.folded] for each in statement.columns if each.name.folded in known)


def read_defaults(statement: ast.Create, stored: tuple[Column, ...]) -> tuple[Named, ...]:
    """What rows have in columns that an INSERT leaves out; raises CompileError."""
    types = {each.name.lower(): each.type for each in stored}
    defaults: list[Named] = []
    for definition in stored_definitions(statement):
        if definition.default is None:
            continue
        typed, type_ = resolve_scalar(definition.default, Scope(())), types[definition.name.folded]
        if typed.type != type_ and not scalars.is_lossless(typed.type, type_):
            reason = f"the default of {definition.name.text} is {typed.type}, the column is {type_}"
            made = f"CREATE {statement.kind.value}"
            raise CompileError(
                [K021.at(definition.span, "", statement=made, target=statement.name.text, reason=reason)]
            )
        value = scalars.cast(typed.expression, typed.type, type_)
        defaults.append(Named(definition.name.text, value, type_))
    return tuple(defaults)


def apply_like(statement: ast.Create, catalog: Catalog) -> ast.Create:
    """The declaration with the columns, the watermark and the options of the relation that LIKE names.

    Its own watermark and options come before these. Raises CompileError. Raises CompileError.
    """
    if statement.like is None:
        return statement
    base = catalog.require(statement.like)
    if not isinstance(base, Declared) or base.kind != statement.kind.value:
        wanted = f"LIKE of what is not a declared {statement.kind.value.lower()}"
        found = B002.at(statement.like.span, "", construct=wanted).also(base.span, "made here")
        if isinstance(base, Declared):
            raise CompileError([found.with_hint(f"CREATE {base.kind} {statement.name.text} LIKE {base.name}")])
        raise CompileError([found.with_hint("list the columns: what a query makes has no options to take over")])
    options = {option.name.folded: option for option in (*base.statement.options, *statement.options)}
    return replace(
        statement,
        columns=(*base.statement.columns, *statement.columns),
        watermark=statement.watermark or base.statement.watermark,
        options=tuple(options.values()),
        like=None,
    )
