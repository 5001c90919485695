"""SQL text -> queries that run: a connection to Spark that remembers what was declared over it."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from penstock import runtime
from penstock.compilation import compile, compile_read
from penstock.diagnostics import Diagnostic, Source
from penstock.left_errors import report_errors
from penstock.partition_check import compare_places
from penstock.planner import Catalog
from penstock.rows import Rows
from penstock.runtime import QueryHandle, RunError


class Session:
    """What `connect` returns. Use it in a `with` statement, or close it. `catalog`: what was declared so far."""

    def __init__(self, spark: runtime.RuntimeSession) -> None:
        self.catalog = Catalog()
        self._spark = spark

    def submit(self, sql: str, name: str = "<sql>", *, reset: bool = False) -> list[QueryHandle]:
        """Start every query of a script, which sees what earlier ones declared; they run until they are stopped.

        `reset`: their checkpoints are removed before, so that they begin anew. Raises CompileError when the script is
        refused, and RunError when its queries cannot be started; in both cases the catalog stays as it was.
        """
        compilation = compile(sql, self.catalog, name)
        compare_places(compilation, self.catalog)
        if reset:
            self._spark.reset(compilation.program)
        handles = self._spark.start(compilation.program)
        self.catalog = compilation.catalog
        return handles

    def sql(self, sql: str, name: str = "<sql>") -> Rows:
        """The rows of a SELECT over tables as they are now. Times are in UTC.

        What a query has written counts up to its last finished micro-batch, each table for itself. Raises CompileError
        when the SELECT is refused, as SELECT STREAM is, and RunError when a table is not there or cannot be read.
        """
        return self._spark.read(compile_read(Source(name, sql), self.catalog, memory=True))

    def tables(self) -> list[str]:
        """The names of the tables that were declared so far."""
        return [entry.name for entry in self.catalog.entries.values() if entry.kind == "TABLE"]

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows that the memory sink `name` holds now. Raises RunError if no query of this session writes there."""
        return self._spark.rows(name)

    def take_errors(self) -> list[Diagnostic]:
        """Why queries of this session have failed. Each reason is given once, unless `await_done` has raised it."""
        return [each for error in self._spark.take_errors() for each in error.diagnostics]

    def close(self) -> None:
        """Stop all queries, and Spark.

        Raises RunError, with a diagnostic for each, when queries failed and `await_done` has not raised that. While
        another exception is on its way, that one goes on, with a note.
        """
        self._close(sys.exc_info()[1])

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close(error)

    def _close(self, error: BaseException | None) -> None:
        try:
            failed = self.take_errors()
        finally:
            self._spark.close()
        report_errors(RunError(failed) if failed else None, error)
