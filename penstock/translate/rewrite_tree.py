"""What Penstock's grammar cannot read, by sqlglot's parse tree."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from penstock.diagnostics import CompileError, Source
from penstock.parser import parse, split_script
from penstock.translate.foreign_statement import Foreign
from penstock.translate.model import Rewritten, System

_DIALECTS = {System.FLINK: None, System.KSQLDB: None, System.SPARK: "spark"}


def rewrite_tree(rewritten: Rewritten, system: System) -> Rewritten | None:
    """The statement with its query as sqlglot writes it for Spark, None if that cannot be read either.

    sqlglot calls itself for each sign and bracket, so a text may be too deep for it.
    """
    head, query = _split_query(rewritten.sql)
    if not query or rewritten.checked is not None:
        return None
    try:
        with _warnings_dropped():
            tree = sqlglot.parse_one(query, read=_DIALECTS[system])
        if isinstance(tree, exp.Command):
            return None
        sql = head + tree.sql(dialect="spark", unsupported_level=ErrorLevel.RAISE)
        parse(Source("translation", sql))
    except (SqlglotError, CompileError, RecursionError):
        return None
    return Rewritten(sql, (*rewritten.changes, "written in the forms of Spark SQL, which Penstock reads"))


def _split_query(sql: str) -> tuple[str, str]:
    """The text before a query, and the query; empty if there is none, or one that sqlglot would take for another."""
    (tokens,) = split_script(Source("translation", sql))
    statement = Foreign(sql, tokens)
    first = min(statement.find("SELECT"), statement.find("WITH"))
    if first == len(statement) or statement.find("SELECT STREAM") < len(statement):
        return sql, ""
    return sql[: tokens[first].start], sql[tokens[first].start :]


@contextmanager
def _warnings_dropped() -> Iterator[None]:
    """What sqlglot logs about a text that it cannot read says nothing to the user: the statement is refused."""
    logger = logging.getLogger("sqlglot")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before
