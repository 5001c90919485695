"""WITH, UNION, INTERSECT, EXCEPT, VALUES and TABLE -> With, UnionQuery, SetQuery, Select."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from penstock.diagnostics.source import Span
from penstock.grammar import Token
from penstock.parser.ast import (
    CommonTable,
    Item,
    Name,
    Query,
    Relation,
    Select,
    SetOperation,
    SetQuery,
    Subquery,
    Table,
    UnionQuery,
    With,
)
from penstock.parser.build.base import Builder, check_chain, name, placed, span_of, token_span, words
from penstock.parser.build.queries import select, select_alone


def table_query(span: Span, token: Token) -> Select:
    """`TABLE name`, which is SELECT * FROM name."""
    place = token_span(span, token)
    table = Table(name(span, token), None, None, None, place)
    return select(span, None, None, (Item(placed(exp.Star(), span), None, span),), table)


def values_row(span: Span, row: tuple[exp.Expression, ...]) -> Select:
    """A row of VALUES, whose columns are called column1, column2 … as in PostgreSQL."""
    items = [Item(value, Name(f"column{place}", span_of(value)), span_of(value)) for place, value in enumerate(row, 1)]
    return select_alone(span, None, None, tuple(items))


def values(span: Span, *rows: Select) -> Query:
    """The rows as SELECTs without FROM, put together."""
    check_chain(span, len(rows), "rows of VALUES")
    return rows[0] if len(rows) == 1 else UnionQuery(rows, span)


def ordered_query(span: Span, query: Query, clauses: tuple[Any, ...]) -> Select:
    """VALUES or TABLE with ORDER BY, LIMIT and the like, which are those of SELECT * FROM them."""
    rows: Relation = Subquery(query, None, (), None, query.span)
    if isinstance(query, Select) and isinstance(query.relation, Table):
        rows = query.relation
    return select(span, None, None, (Item(placed(exp.Star(), query.span), None, query.span),), rows, clauses)


def values_table(span: Span, query: Query, alias: Name | None, columns: tuple[Name, ...] | None) -> Subquery:
    return Subquery(query, alias, columns or (), None, span)


def union(span: Span, first: Query, *rest: Any) -> Query:
    """Queries with an operation between each two, grouped to the left. A chain of UNION ALL is flat."""
    check_chain(span, len(rest) // 2 + 1, "queries")
    query = first
    for link, right in zip(rest[::2], rest[1::2], strict=True):
        place = query.span.to(right.span)
        if link != "UNION ALL":
            query = SetQuery(SetOperation(link.removesuffix(" DISTINCT")), query, right, place)
        else:
            query = UnionQuery((*_branches(query), *_branches(right)), place)
    return query


def _branches(query: Query) -> tuple[Query, ...]:
    return query.branches if isinstance(query, UnionQuery) else (query,)


def query_in_parentheses(span: Span, query: Query) -> Query:
    """The query, whose place is that of the text inside."""
    return query


def with_query(span: Span, *parts: Any) -> With:
    *tables, body = parts
    return With(tuple(tables), body, span)


def common_table(span: Span, token: Token, columns: tuple[Name, ...] | None, query: Query) -> CommonTable:
    return CommonTable(name(span, token), columns or (), query)


RULES: dict[str, Builder] = {
    "with_query": with_query,
    "common_table": common_table,
    "query_in_parentheses": query_in_parentheses,
    "union": union,
    "intersection": union,
    "set_link": words,
    "intersect": words,
    "table_query": table_query,
    "values": values,
    "values_row": values_row,
    "values_table": values_table,
    "ordered_query": ordered_query,
}
