"""Rules of CREATE -> AST nodes: columns, keys, watermarks and where they are taken from."""

from __future__ import annotations

from typing import Any, NoReturn, TypeAlias

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import nearest
from penstock.diagnostics.codes import syntax
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.names import N001
from penstock.diagnostics.diagnostic import CompileError
from penstock.diagnostics.source import Span
from penstock.grammar import Token
from penstock.parser.ast import (
    ColumnDefinition,
    ComputedColumn,
    Create,
    CreateAs,
    CreateView,
    DeclaredColumn,
    Duration,
    MetadataColumn,
    Name,
    Option,
    Query,
    RelationKind,
    Watermark,
)
from penstock.parser.build.base import Builder, duration, flag, name, placed, sequence, token_span
from penstock.parser.build.standard import check_cast
from penstock.parser.build.type_names import SIMPLE, simple_type
from penstock.parser.unparse_scalars import name_text


class KeyColumns(msgspec.Struct, frozen=True):
    """PRIMARY KEY (column, …)."""

    names: tuple[Name, ...]


class Like(msgspec.Struct, frozen=True):
    """LIKE relation."""

    name: Name
    span: Span


Element: TypeAlias = DeclaredColumn | Watermark | KeyColumns | Like


def create(
    span: Span,
    or_replace: bool | None,
    kind: RelationKind,
    if_not_exists: bool | None,
    token: Token,
    elements: tuple[Element, ...],
    comment: str | None,
    partitioned: None,
    options: tuple[Option, ...] | None,
    like: Like | None,
) -> Create:
    columns = tuple(element for element in elements if isinstance(element, DeclaredColumn))
    for names in (element.names for element in elements if isinstance(element, KeyColumns)):
        columns = mark_key(columns, names)
    watermarks = [element for element in elements if isinstance(element, Watermark)]
    if len(watermarks) > 1:
        twice = syntax.S023.at(watermarks[1].span, "the second").also(watermarks[0].span, "the first")
        raise CompileError([twice.with_hint("keep the one whose column is the event time")])
    likes = [*(element for element in elements if isinstance(element, Like)), *([] if like is None else [like])]
    if len(likes) > 1:
        raise CompileError([syntax.S012.at(likes[1].span, clause="LIKE")])
    return Create(
        kind=kind,
        name=name(span, token),
        or_replace=bool(or_replace),
        if_not_exists=bool(if_not_exists),
        columns=columns,
        watermark=watermarks[0] if watermarks else None,
        comment=comment,
        options=options or (),
        like=likes[0].name if likes else None,
        span=span,
    )


def create_like(
    span: Span,
    or_replace: bool | None,
    kind: RelationKind,
    if_not_exists: bool | None,
    token: Token,
    options: tuple[Option, ...] | None,
    like: Like,
) -> Create:
    return create(span, or_replace, kind, if_not_exists, token, (), None, None, options, like)


def mark_key(columns: tuple[DeclaredColumn, ...], names: tuple[Name, ...]) -> tuple[DeclaredColumn, ...]:
    """Marks the columns of these names as parts of the primary key. Raises CompileError for an unknown name."""
    known = {column.name.folded for column in columns if isinstance(column, ColumnDefinition)}
    for each in names:
        if each.folded not in known:
            other = next((column for column in columns if column.name.folded == each.folded), None)
            if other is not None:
                _refuse(each.span, "a key column that no record holds", None)
            guess = nearest(each.text, [column.name.text for column in columns if column.name.folded in known])
            raise CompileError([N001.at(each.span, "", name=each.text).with_guess(guess and name_text(guess))])
    wanted = {each.folded for each in names}
    return tuple(
        replace(each, key=True, primary=True)
        if isinstance(each, ColumnDefinition) and each.name.folded in wanted
        else each
        for each in columns
    )


def key_columns(span: Span, names: tuple[Name, ...], not_enforced: bool | None) -> KeyColumns:
    return KeyColumns(names)


def named_key(span: Span, word: Token, token: Token, names: tuple[Name, ...], not_enforced: bool | None) -> KeyColumns:
    """`CONSTRAINT name PRIMARY KEY (…)`. A column may be called `constraint`, so the word is no keyword."""
    if word.value.upper() != "CONSTRAINT":
        raise CompileError(
            [syntax.S001.at(names[0].span, found=names[0].text).because("A column is no list of columns.")]
        )
    return KeyColumns(names)


def create_as(
    span: Span,
    or_replace: bool | None,
    kind: RelationKind,
    if_not_exists: bool | None,
    token: Token,
    comment: str | None,
    options: tuple[Option, ...] | None,
    query: Query,
) -> CreateAs:
    replaced, optional = bool(or_replace), bool(if_not_exists)
    return CreateAs(kind, name(span, token), replaced, optional, comment, options or (), query, span)


def create_materialized(
    span: Span,
    or_replace: bool | None,
    if_not_exists: bool | None,
    token: Token,
    comment: str | None,
    query: Query,
) -> CreateAs:
    """A materialized view is a table that follows its query."""
    return create_as(span, or_replace, RelationKind.TABLE, if_not_exists, token, comment, None, query)


def create_view(
    span: Span,
    or_replace: bool | None,
    if_not_exists: bool | None,
    token: Token,
    columns: tuple[Name, ...] | None,
    comment: str | None,
    query: Query,
) -> CreateView:
    replaced, optional = bool(or_replace), bool(if_not_exists)
    return CreateView(name(span, token), replaced, optional, columns or (), comment, query, span)


def view_column(span: Span, token: Token, comment: str | None) -> Name:
    return name(span, token)


def comment(span: Span, token: Token) -> str:
    return token.value


def like_table(span: Span, token: Token) -> Like:
    return Like(name(span, token), span)


def partitioned(span: Span, columns: tuple[Name, ...]) -> NoReturn:
    found = B002.at(span, "", construct="PARTITIONED BY")
    raise CompileError([found.with_hint("leave it out: folders such as day=2026-01-01 have values of the column day")])


class ColumnPart(msgspec.Struct, frozen=True):
    """What stands behind the type of a column: a field of ColumnDefinition, and its value."""

    field: str
    value: Any
    span: Span


def column_definition(span: Span, token: Token, type_: exp.DataType, *parts: ColumnPart | str | bool) -> DeclaredColumn:
    """A part that is True is NOT ENFORCED, which every key is."""
    given: dict[str, Any] = {"key": False, "primary": False, "not_null": False, "default": None, "comment": None}
    computed: exp.Expression | None = None
    metadata: tuple[str | None, bool] | None = None
    seen: set[str] = set()
    for part in parts:
        if isinstance(part, bool):
            continue
        part = part if isinstance(part, ColumnPart) else ColumnPart("comment", part, span)
        if part.field in seen:
            raise CompileError([syntax.S012.at(part.span, clause=_PARTS[part.field])])
        seen.add(part.field)
        if part.field == "key":
            given |= {"key": True, "primary": part.value}
        elif part.field == "computed":
            computed = part.value
        elif part.field == "metadata":
            metadata = part.value
        else:
            given[part.field] = part.value
    if computed is not None:
        if seen - {"computed", "comment"}:
            _refuse(span, "KEY, NOT NULL or DEFAULT of a computed column", None)
        return generated_column(span, token, type_, computed, given["comment"])
    for each in type_.find_all(exp.DataType):
        # A CAST to VARCHAR(n) would cut the text. What a column holds is not checked against a length.
        if each.this == exp.DType.VARCHAR:
            each.set("this", exp.DType.TEXT)
            each.set("expressions", [])
    if metadata is not None:
        if seen - {"metadata", "comment", "not_null"}:
            _refuse(span, "KEY or DEFAULT of a METADATA column", None)
        key, virtual = metadata
        return MetadataColumn(name(span, token), type_, key or token.value, virtual, given["comment"], span)
    return ColumnDefinition(name(span, token), type_, **given, span=span)


_PARTS = {
    "key": "KEY",
    "not_null": "NOT NULL",
    "default": "DEFAULT",
    "comment": "COMMENT",
    "computed": "GENERATED",
    "metadata": "METADATA",
}


def plain_column(span: Span, token: Token, type_: Token, *parts: ColumnPart | str | bool) -> DeclaredColumn | Like:
    """A column, or `LIKE relation`: a column may be called `like`, so the word is no keyword."""
    if token.value.upper() == "LIKE" and not parts and type_.value.upper() not in SIMPLE:
        return Like(name(span, type_), span)
    return column_definition(span, token, simple_type(token_span(span, type_), type_), *parts)


def key(span: Span) -> ColumnPart:
    return ColumnPart("key", False, span)


def primary_key(span: Span) -> ColumnPart:
    return ColumnPart("key", True, span)


def not_null(span: Span) -> ColumnPart:
    return ColumnPart("not_null", True, span)


def nullable(span: Span) -> ColumnPart:
    return ColumnPart("not_null", False, span)


def default(span: Span, value: exp.Expression) -> ColumnPart:
    return ColumnPart("default", value, span)


def computed_column(span: Span, token: Token, value: exp.Expression, comment: str | None) -> ComputedColumn:
    if token.word == "WATERMARK":
        hint = "WATERMARK FOR time AS time - INTERVAL '10' SECOND; a column of that name is quoted: `watermark`"
        _refuse(span, "WATERMARK without FOR", hint)
    return ComputedColumn(name(span, token), value, comment, span)


def generated(span: Span, value: exp.Expression) -> ColumnPart:
    return ColumnPart("computed", value, span)


def generated_column(
    span: Span, token: Token, type_: exp.DataType, value: exp.Expression, comment: str | None
) -> ComputedColumn:
    """PostgreSQL's computed column. Its value has the declared type."""
    check_cast(value, type_)
    return ComputedColumn(name(span, token), placed(exp.Cast(this=value, to=type_), span), comment, span)


def metadata(span: Span, key: Token | None, virtual: bool | None) -> ColumnPart:
    return ColumnPart("metadata", (None if key is None else key.value, bool(virtual)), span)


def unbuilt_unique(span: Span, *parts: Any) -> NoReturn:
    _refuse(span, "UNIQUE", "PRIMARY KEY is the only key of a table")


def unbuilt_check(span: Span, *parts: Any) -> NoReturn:
    _refuse(span, "CHECK", "leave it out, and filter the rows where they are read: WHERE has the condition")


def unbuilt_references(span: Span, *parts: Any) -> NoReturn:
    _refuse(span, "REFERENCES", "leave it out: a JOIN finds the rows that are referred to")


def unbuilt_identity(span: Span, *parts: Any) -> NoReturn:
    _refuse(span, "an identity column", "the key of a row has to be in its record")


def unbuilt_header(span: Span, *parts: Any) -> NoReturn:
    form = "headers ARRAY<STRUCT<key STRING, value BINARY>> METADATA VIRTUAL"
    _refuse(span, "HEADER columns", f"{form}, a column of a topic with all headers of a message")


def _refuse(span: Span, construct: str, hint: str | None) -> NoReturn:
    raise CompileError([B002.at(span, "", construct=construct).with_hint(hint)])


def watermark(span: Span, token: Token, expression: exp.Expression, idle: Duration | None) -> Watermark:
    return Watermark(name(span, token), expression, idle, span)


def idle(span: Span, length: exp.Interval) -> Duration:
    return duration(length)


RULES: dict[str, Builder] = {
    "create": create,
    "create_like": create_like,
    "create_as": create_as,
    "create_materialized": create_materialized,
    "create_view": create_view,
    "view_columns": sequence,
    "view_column": view_column,
    "comment": comment,
    "like_table": like_table,
    "partitioned": partitioned,
    "or_replace": flag,
    "if_not_exists": flag,
    "not_enforced": flag,
    "elements": sequence,
    "column_definition": column_definition,
    "plain_column": plain_column,
    "named_key": named_key,
    "key": key,
    "primary_key": primary_key,
    "not_null": not_null,
    "nullable": nullable,
    "default": default,
    "computed_column": computed_column,
    "generated": generated,
    "unbuilt_unique": unbuilt_unique,
    "unbuilt_check": unbuilt_check,
    "unbuilt_references": unbuilt_references,
    "unbuilt_identity": unbuilt_identity,
    "metadata": metadata,
    "virtual": flag,
    "unbuilt_header": unbuilt_header,
    "key_columns": key_columns,
    "watermark": watermark,
    "idle": idle,
}
