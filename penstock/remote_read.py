"""A SELECT over the tables of a server -> its rows. The rows of the tables are asked for, and the rest is done here.

PostgreSQL would answer the text by its own rules. So that it means the same as in Spark, it is planned here over the
definitions of the server. DuckDB computes it where it is known to mean the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Protocol

import pyarrow as pa

from penstock.compilation import compile, compile_read
from penstock.diagnostics import CompileError, Source, Span
from penstock.diagnostics.codes.running import R088
from penstock.parser import ast, parse
from penstock.planner import Catalog
from penstock.rows import Rows

MOST_ROWS = 100_000
"""The most rows of a table that a server gives."""
_HINT = "ask PostgreSQL, as psql does; or session.table(name, order=…, limit=…) gives rows, to go on with to_pandas()"


class TableHolder(Protocol):
    """Whoever has tables."""

    def table(self, name: str, *, limit: int | None = None) -> Rows: ...


def is_read(source: Source) -> bool:
    """Whether the text is one SELECT without STREAM. Raises CompileError."""
    statements = parse(source)
    return len(statements) == 1 and reads_tables(statements[0])


def reads_tables(statement: ast.Statement) -> bool:
    """Whether the statement is a SELECT without STREAM."""
    return isinstance(statement, ast.QueryStatement) and not _streams(statement.query)


def read_remote(source: Source, relations: Sequence[dict[str, Any]], tables: TableHolder) -> Rows:
    """The rows of a SELECT over tables as they are now. `relations`: as the server lists them.

    Raises:
        CompileError: it is refused, or it needs Spark, or more rows than the server gives.
        RemoteError: the server does not answer, or does not let this role read a table.
    """
    from penstock.runtime import answer_tables  # with pyspark, which other calls of a client do without

    read = compile_read(source, _declare(relations), memory=True)
    if read.local is None:
        raise _refuse(source, "it needs Spark, or a table that the server does not keep itself")
    rows: dict[str, pa.Table] = {}
    for name in dict.fromkeys(each.input.name for each in read.local.tables):
        rows[name] = tables.table(name, limit=MOST_ROWS).to_arrow()
        if rows[name].num_rows >= MOST_ROWS:
            raise _refuse(source, f"{name} has {MOST_ROWS:,} rows or more")
    answer = answer_tables(read.local, rows)
    if answer is None:
        raise _refuse(source, "a value has to be computed by Spark")
    return answer


def _declare(relations: Sequence[dict[str, Any]]) -> Catalog:
    """What the definitions of the server declare. One that this version cannot read is left out."""
    catalog = Catalog()
    for each in relations:
        with suppress(CompileError):
            catalog = compile(each["definition"], catalog).catalog
    return catalog


def _refuse(source: Source, reason: str) -> CompileError:
    found = R088.at(Span(source, 0, len(source.text)), reason=reason)
    return CompileError([found.with_hint(_HINT)])


def _streams(query: ast.Query) -> bool:
    match query:
        case ast.Select():
            return query.stream
        case ast.UnionQuery():
            return any(map(_streams, query.branches))
        case ast.SetQuery():
            return _streams(query.left) or _streams(query.right)
        case ast.With():
            return _streams(query.body)
