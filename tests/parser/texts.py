"""Parsing in tests: text in, statements or findings out."""

from __future__ import annotations

from penstock.diagnostics import CompileError, Diagnostic, Source
from penstock.parser import parse
from penstock.parser.ast import Query, QueryStatement, Statement


def statement(text: str) -> Statement:
    """The only statement of a text."""
    (only,) = parse(Source("<test>", text))
    return only


def query(text: str) -> Query:
    """The query that a text is."""
    parsed = statement(text)
    assert isinstance(parsed, QueryStatement)
    return parsed.query


def findings(text: str) -> tuple[Diagnostic, ...]:
    """What is wrong with a text, nothing if it parses."""
    try:
        parse(Source("<test>", text))
    except CompileError as error:
        return error.diagnostics
    return ()


def finding(text: str) -> Diagnostic:
    """The only thing that is wrong with a text."""
    (only,) = findings(text)
    return only
