"""SELECT STREAM: a query that gives a stream says so, unless the statement around it does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from msgspec.structs import replace

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.kinds import K001, K002
from penstock.parser import ast
from penstock.planner.lower.context import Context
from penstock.planner.lower.query import lower_query
from penstock.planner.plan import Node


def lower_stream(query: ast.Query, context: Context) -> Node:
    """The plan of a query whose rows go to a stream, as if it said STREAM, unless it gives a table all the same.

    A subquery that stands alone in FROM gives a stream as well, where it can. Errors are about the query as written.
    """
    marked = mark_stream(query, below=False)
    whole = mark_stream(query, below=True)
    if whole != marked:
        beside = replace(context, warnings=[], reads=set())
        with suppress(CompileError):
            node = lower_query(whole, beside)
            context.warnings.extend(beside.warnings)
            context.reads.update(beside.reads)
            return node
    try:
        return lower_query(marked, context)
    except CompileError as error:
        if marked == query or any(each.code != K001.id for each in error.diagnostics):
            raise
    return lower_query(query, context)


def mark_stream(query: ast.Query, *, below: bool) -> ast.Query:
    """The query with STREAM behind each SELECT whose rows it gives. `below`: also in subqueries alone in FROM."""
    match query:
        case ast.Select():
            relation = query.relation
            if below and isinstance(relation, ast.Subquery):
                relation = replace(relation, query=mark_stream(relation.query, below=True))
            return replace(query, stream=True, relation=relation)
        case ast.UnionQuery():
            return replace(query, branches=tuple(mark_stream(each, below=below) for each in query.branches))
        case ast.With():
            return replace(query, body=mark_stream(query.body, below=below))
        case ast.SetQuery():
            sides = (mark_stream(each, below=below) for each in (query.left, query.right))
            return replace(query, left=next(sides), right=next(sides))


def require_stream_word(query: ast.Query, statement: Span) -> None:
    """Raises CompileError for a SELECT of the statement that gives a stream and does not say STREAM."""
    unmarked = list(_find_unmarked(query))
    if not unmarked:
        return
    pieces, place = [], statement.start
    for select in unmarked:
        behind = select.span.start + len("SELECT")
        pieces.append(f"{statement.source.text[place:behind]} STREAM")
        place = behind
    fix = "".join(pieces) + statement.source.text[place : statement.end]
    found = K002.at(unmarked[0].span, "").with_hint("SELECT STREAM, or GROUP BY a key for a table", fix=fix)
    raise CompileError([found])


def _find_unmarked(query: ast.Query) -> Iterator[ast.Select]:
    """The SELECTs whose rows the query gives, in the order of the text, that do not say STREAM."""
    match query:
        case ast.Select():
            if not query.stream and not isinstance(query.emit, ast.EmitChanges):
                yield query
        case ast.UnionQuery():
            for branch in query.branches:
                yield from _find_unmarked(branch)
        case ast.With():
            yield from _find_unmarked(query.body)
