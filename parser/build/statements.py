"""Statement rules -> AST nodes of statements."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from sqlglot import exp

from penstock.diagnostics.codes import syntax
from penstock.diagnostics.diagnostic import CompileError
from penstock.diagnostics.source import Span
from penstock.grammar import Token
from penstock.parser.ast import (
    Assignment,
    Delete,
    Describe,
    Drop,
    DropKind,
    ElseInsert,
    Explain,
    ExplainWhy,
    Insert,
    Item,
    Name,
    Option,
    Pause,
    Query,
    QueryStatement,
    RelationKind,
    Resume,
    Select,
    SetOption,
    SetQuery,
    Show,
    ShowCreate,
    ShowKind,
    Stage,
    Statement,
    Table,
    UnionQuery,
    Update,
    With,
    is_star,
)
from penstock.parser.build.base import Builder, flag, name, placed, sequence, span_of, token_span
from penstock.parser.build.scalars import number, string
from penstock.parser.build.standard import refuse


def relation_kind(span: Span, token: Token) -> RelationKind:
    return RelationKind(token.value.upper())


def option(span: Span, option_name: Name, value: exp.Expression) -> Option:
    return Option(option_name, value)


def option_name(span: Span, *tokens: Token) -> Name:
    return Name(".".join(token.value for token in tokens), span)


def quoted_option_name(span: Span, token: Token) -> Name:
    return Name(token.value, span)


def negative_number(span: Span, token: Token) -> exp.Neg:
    return placed(exp.Neg(this=number(token_span(span, token), token)), span)


def env(span: Span, token: Token) -> exp.Anonymous:
    return _secret(span, "ENV", token)


def file(span: Span, token: Token) -> exp.Anonymous:
    return _secret(span, "FILE", token)


def _secret(span: Span, kind: str, token: Token) -> exp.Anonymous:
    """A call of ENV or FILE, which stands for a secret."""
    return placed(exp.Anonymous(this=kind, expressions=[string(token_span(span, token), token)]), span)


def insert_by_name(span: Span, target: Token, query: Query) -> Insert:
    """`INSERT INTO t BY NAME`: the columns are named in the SELECT list; raises CompileError."""
    names = tuple(name_item(each) for each in find_first(query).items)
    return Insert(name(span, target), names, query, span)


def find_first(query: Query) -> Select:
    """The SELECT whose columns name the columns of the query."""
    match query:
        case Select():
            return query
        case With():
            return find_first(query.body)
        case SetQuery():
            return find_first(query.left)
        case UnionQuery():
            return find_first(query.branches[0])
        case _:
            assert_never(query)


def name_item(item: Item) -> Name:
    """What an item of SELECT is called; raises CompileError where only its relation knows."""
    if item.alias is not None:
        return item.alias
    if isinstance(item.value, exp.Column) and not is_star(item.value):
        return Name(item.value.name, item.span)
    refused = syntax.S026.at(item.span, "", construct="BY NAME of a column without a name")
    raise CompileError([refused.with_hint("name it by AS, and write the columns of * one by one")])


def insert(span: Span, target: Token, columns: tuple[Name, ...] | None, query: Query) -> Insert:
    return Insert(name(span, target), columns or (), query, span)


def columns(span: Span, *tokens: Token) -> tuple[Name, ...]:
    return tuple(name(span, token) for token in tokens)


def delete(span: Span, target: Token, alias: Name | None, using: Table, where: exp.Expression) -> Delete:
    _resolve_alias(target, alias, using, [where])
    return Delete(name(span, target), using, where, span)


def _resolve_alias(target: Token, alias: Name | None, source: Table, expressions: Iterable[exp.Expression]) -> None:
    """Names the table that is changed in the place of its alias. Raises CompileError if the stream has that name."""
    if alias is None:
        return
    named = source.name if source.alias is None else source.alias
    if named.folded == alias.folded:
        raise refuse(alias.span, "an alias that the stream has, too", None, f"{target.value}.id = {named.text}.id")
    for expression in expressions:
        for column in expression.find_all(exp.Column):
            if column.table.lower() == alias.folded:
                column.set("table", placed(exp.to_identifier(target.value), span_of(column)))


def streamed(span: Span, token: Token, alias: Name | None) -> Table:
    """The stream that UPDATE or DELETE reads."""
    return Table(name(span, token), alias, None, None, span)


def update(
    span: Span,
    target: Token,
    alias: Name | None,
    assignments: tuple[Assignment, ...],
    source: Table,
    where: exp.Expression,
    default: ElseInsert | None,
) -> Update:
    values = () if default is None else default.values
    _resolve_alias(target, alias, source, [where, *(each.value for each in assignments), *values])
    return Update(name(span, target), assignments, source, where, default, span)


def assignment(span: Span, column: Token, value: exp.Expression) -> Assignment:
    return Assignment(name(span, column), value)


def else_insert(span: Span, columns: tuple[Name, ...], values: tuple[exp.Expression, ...]) -> ElseInsert:
    return ElseInsert(columns, values, span)


def explain(span: Span, stage: Stage | None, statement: Statement) -> Explain:
    return Explain(stage, statement, span)


def explain_why(span: Span, token: Token) -> ExplainWhy:
    return ExplainWhy(name(span, token), span)


def stage(span: Span, token: Token, *rest: Token) -> Stage:
    """Other systems write PLAN FOR and EXTENDED, which are the plan."""
    word = token.value.upper()
    return Stage.PLAN if word == "EXTENDED" else Stage(word)


def show(span: Span, kind: ShowKind) -> Show:
    return Show(kind, span)


def show_kind(span: Span, token: Token) -> ShowKind:
    return ShowKind(token.value.upper())


def show_create(span: Span, token: Token) -> ShowCreate:
    return ShowCreate(name(span, token), span)


def describe(span: Span, token: Token) -> Describe:
    return Describe(name(span, token), span)


def drop(span: Span, kind: DropKind, if_exists: bool | None, token: Token) -> Drop:
    return Drop(kind, name(span, token), bool(if_exists), span)


def drop_kind(span: Span, token: Token) -> DropKind:
    return DropKind(token.value.upper())


def pause(span: Span, token: Token) -> Pause:
    return Pause(name(span, token), span)


def resume(span: Span, token: Token) -> Resume:
    return Resume(name(span, token), span)


def set_option(span: Span, option: Option) -> SetOption:
    return SetOption(option, span)


def query_statement(span: Span, query: Query) -> QueryStatement:
    return QueryStatement(query, span)


def start(span: Span, statement: Statement) -> Statement:
    return statement


RULES: dict[str, Builder] = {
    "start": start,
    "if_exists": flag,
    "relation_kind": relation_kind,
    "options": sequence,
    "option": option,
    "option_name": option_name,
    "quoted_option_name": quoted_option_name,
    "negative_number": negative_number,
    "env": env,
    "file": file,
    "insert": insert,
    "insert_by_name": insert_by_name,
    "columns": columns,
    "delete": delete,
    "update": update,
    "assignments": sequence,
    "assignment": assignment,
    "else_insert": else_insert,
    "streamed": streamed,
    "explain": explain,
    "explain_why": explain_why,
    "stage": stage,
    "show": show,
    "show_kind": show_kind,
    "show_create": show_create,
    "describe": describe,
    "drop": drop,
    "drop_kind": drop_kind,
    "pause": pause,
    "resume": resume,
    "set_option": set_option,
    "query_statement": query_statement,
}
