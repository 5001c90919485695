"""WITH, UNION, INTERSECT, EXCEPT, VALUES and TABLE -> With, UnionQuery, SetQuery, Select."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics.source import Span
from penstock.grammar import Token
from penstock.parser.ast import (
    CommonTable,
    Item,
    Limit,
    Name,
    OrderBy,
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

_SPELLINGS = {"MINUS": "EXCEPT"}


def table_query(span: Span, token: Token) -> Select:
    """`TABLE name`, which is SELECT * FROM name."""
    place = token_span(span, token)
    table = Table(name(span, token), None, None, None, place)
    return select(span, None, None, _all_columns(span), table)


def values_row(span: Span, row: tuple[exp.Expression, ...]) -> Select:
    """A row of VALUES, whose columns are called column1, column2 … as in PostgreSQL."""
    items = [Item(value, Name(f"column{place}", span_of(value)), span_of(value)) for place, value in enumerate(row, 1)]
    return select_alone(span, None, None, tuple(items))


def values(span: Span, *rows: Select) -> Query:
    """The rows as SELECTs without FROM, put together."""
    check_chain(span, len(rows), "rows of VALUES")
    return rows[0] if len(rows) == 1 else UnionQuery(rows, span)


def ordered_query(span: Span, query: Query, clauses: tuple[Any, ...]) -> Select:
    """VALUES or TABLE with ORDER BY, LIMIT and the like, which belong to SELECT * FROM them."""
    rows: Relation = Subquery(query, None, (), None, query.span)
    if isinstance(query, Select) and isinstance(query.relation, Table):
        rows = query.relation
    return select(span, None, None, _all_columns(query.span), rows, clauses)


def values_table(span: Span, query: Query, alias: Name | None, columns: tuple[Name, ...] | None) -> Subquery:
    return Subquery(query, alias, columns or (), None, span)


def union(span: Span, first: Query, *rest: Any) -> Query:
    """Queries with an operation between each two, grouped to the left. A chain of UNION ALL is flat."""
    check_chain(span, len(rest) // 2 + 1, "queries")
    *others, last = rest
    ordered = last if isinstance(last, Select) and span.end == last.span.end else None
    if ordered is not None and (ordered.order_by is not None or ordered.limit is not None):
        # They belong to the whole, as no parentheses say otherwise.
        rest = (*others, replace(ordered, order_by=None, limit=None))
        return _order(union(span, first, *rest), span, ordered.order_by, ordered.limit, stream=ordered.stream)
    query = _keep_order(first, span)
    for link, operand in zip(rest[::2], rest[1::2], strict=True):
        right = _keep_order(operand, span)
        place = query.span.to(right.span)
        if link != "UNION ALL":
            operation = link.removesuffix(" DISTINCT")
            query = SetQuery(SetOperation(_SPELLINGS.get(operation, operation)), query, right, place)
        else:
            query = UnionQuery((*_branches(query), *_branches(right)), place)
    return query


def _keep_order(query: Query, span: Span) -> Query:
    """A query in parentheses that has ORDER BY or LIMIT, as SELECT * FROM it: they do not belong to the union."""
    if not isinstance(query, Select) or (query.order_by is None and query.limit is None):
        return query
    before = span.source.text[span.start : query.span.start].rstrip()
    return _order(query, query.span, None, None, stream=query.stream) if before.endswith("(") else query


def ordered_union(span: Span, query: Query, clauses: tuple[Any, ...]) -> Select:
    """`(query) UNION ALL (query) ORDER BY …`, which is SELECT * FROM them ORDER BY …"""
    return select(span, None, None, _all_columns(query.span), Subquery(query, None, (), None, query.span), clauses)


def _order(query: Query, span: Span, order_by: OrderBy | None, limit: Limit | None, *, stream: bool) -> Select:
    rows = Subquery(query, None, (), None, query.span)
    whole = select(span, None, None, _all_columns(query.span), rows)
    return replace(whole, stream=stream, order_by=order_by, limit=limit)


def _all_columns(span: Span) -> tuple[Item]:
    return (Item(placed(exp.Star(), span), None, span),)


def _branches(query: Query) -> tuple[Query, ...]:
    return query.branches if isinstance(query, UnionQuery) else (query,)


def query_in_parentheses(span: Span, query: Query) -> Query:
    """The query. Its place is the text inside the parentheses."""
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
    "ordered_union": ordered_union,
}
