"""SQL text -> queries that run: a connection to Spark that remembers what was declared over it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from threading import Event
from types import TracebackType
from typing import Any

from penstock import runtime
from penstock.compilation import Compilation, compile, compile_read
from penstock.diagnostics import Diagnostic, Source, hide_credentials, show_text
from penstock.explain import answer_text
from penstock.left_errors import report_errors
from penstock.partition_check import compare_places
from penstock.planner import Catalog
from penstock.rows import Rows
from penstock.runtime import QueryHandle, QueryReport, RunError


@dataclass(frozen=True, slots=True)
class ScriptResult:
    """What a script has come to.

    queries: the queries that were started. answers: texts, one for each SHOW, DESCRIBE and EXPLAIN. warnings: what
    the script is warned about.
    """

    queries: tuple[QueryHandle, ...]
    answers: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]


class Session:
    """What `connect` returns. Use it in a `with` statement, or close it. `catalog`: what was declared so far."""

    def __init__(self, spark: runtime.RuntimeSession) -> None:
        self.catalog = Catalog()
        self._spark = spark
        self._is_closed = False

    def __repr__(self) -> str:
        """Where it runs, and how much there is."""
        if self._is_closed:
            return "<Session: closed>"
        place = show_text(hide_credentials(self._spark.master))
        return f"<Session {place}: {_count(len(self.queries()), 'query')}, {_count(len(self.tables()), 'table')}>"

    def submit(
        self, sql: str, name: str = "<sql>", *, reset: bool = False, overwrite: bool = False
    ) -> list[QueryHandle]:
        """Start every query of a script, which sees what earlier ones declared; they run until they are stopped.

        Args:
            sql: the script.
            name: how errors cite it.
            reset: the checkpoints of its queries are removed before, so that they begin anew.
            overwrite: the files that earlier runs of Penstock wrote to their outputs are removed, too.

        Raises:
            CompileError: the script is refused. The catalog stays as it was.
            RunError: its queries cannot be started. The catalog stays as it was.
        """
        return [*self.run(sql, name, reset=reset, overwrite=overwrite).queries]

    def run(self, sql: str, name: str = "<sql>", *, reset: bool = False, overwrite: bool = False) -> ScriptResult:
        """As `submit`, and gives the answers to SHOW, DESCRIBE and EXPLAIN, and the warnings, as well."""
        compilation = self._compile(sql, name)
        self._begin_anew(compilation, reset=reset, overwrite=overwrite)
        handles = self._spark.start(compilation.program)
        self.catalog = compilation.catalog
        answers = tuple(answer_text(each) for each in compilation.answers)
        return ScriptResult(tuple(handles), answers, compilation.diagnostics)

    def run_once(
        self,
        sql: str,
        name: str = "<sql>",
        *,
        drain: bool | None = None,
        reset: bool = False,
        overwrite: bool = False,
        stopping: Event | None = None,
    ) -> list[QueryReport]:
        """Run the queries of a script over the input that is there now, to its end. Returns a report of each query.

        Args:
            sql: the script. It sees what earlier ones declared.
            name: how errors cite it.
            drain: takes the input as complete, so that all windows close. By default where no checkpoint is kept.
            reset: the checkpoints of its queries are removed before.
            overwrite: the files that earlier runs of Penstock wrote to their outputs are removed, too.
            stopping: when it is set, the run ends before its time.

        Raises:
            CompileError: the script is refused. The catalog stays as it was.
            RunError: a query cannot be started, or failed.
            KeyboardInterrupt: `stopping` was set.
        """
        compilation = self._compile(sql, name)
        self._begin_anew(compilation, reset=reset, overwrite=overwrite)
        program = compilation.program
        if not self._spark.keeps_checkpoints:
            drain = True if drain is None else drain
            if runtime.has_large_batches([each for query in program.queries for each in query.inputs]):
                program = compilation.for_large_batches().program
        reports = self._spark.run_once(program, drain=bool(drain), stopping=stopping)
        self.catalog = compilation.catalog
        return reports

    def sql(self, sql: str, name: str = "<sql>") -> Rows:
        """The rows of a SELECT over tables as they are now. Times are in UTC.

        What a query has written counts up to its last finished micro-batch, each table for itself. Raises CompileError
        when the SELECT is refused, as SELECT STREAM is, and RunError when a table is not there or cannot be read.
        """
        return self._spark.read(compile_read(Source(name, sql), self.catalog, memory=True))

    def tables(self) -> list[str]:
        """The names of the tables that were declared so far."""
        return [entry.name for entry in self.catalog.entries.values() if entry.kind == "TABLE"]

    def queries(self) -> list[QueryHandle]:
        """The queries that were started and not stopped. One that has failed stays until its error is raised."""
        return self._spark.handles

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

    def _compile(self, sql: str, name: str) -> Compilation:
        compilation = compile(sql, self.catalog, name)
        compare_places(compilation, self.catalog)
        return compilation

    def _begin_anew(self, compilation: Compilation, *, reset: bool, overwrite: bool) -> None:
        if reset or overwrite:
            self._spark.reset(compilation.program, overwrite=overwrite)

    def _close(self, error: BaseException | None) -> None:
        try:
            failed = self.take_errors()
        finally:
            self._spark.close()
            self._is_closed = True
        report_errors(RunError(failed) if failed else None, error)


def _count(number: int, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"
