"""SELECT STREAM: a query that gives a stream says so."""

from __future__ import annotations

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.kinds import K002
from penstock.parser import ast


def require_stream_word(query: ast.Query, statement: Span) -> None:
    """Raises CompileError for a SELECT of the statement that gives a stream and does not say STREAM."""
    match query:
        case ast.Select():
            if not query.stream:
                behind = query.span.start + len("SELECT")
                source = statement.source.text
                fix = f"{source[statement.start : behind]} STREAM{source[behind : statement.end]}"
                found = K002.at(query.span, "").with_hint("SELECT STREAM …, or GROUP BY a key for a table", fix=fix)
                raise CompileError([found])
        case ast.UnionQuery():
            for branch in query.branches:
                require_stream_word(branch, statement)
        case ast.With():
            require_stream_word(query.body, statement)
