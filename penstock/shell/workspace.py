"""A text of statements -> what it answers. Spark starts with the first text that needs it, and stays."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

from penstock.commands.answers import show_answer
from penstock.commands.peek import show_look
from penstock.commands.run_report import show_reports
from penstock.commands.show_findings import show_findings
from penstock.compilation import Compilation, compile, compile_read, compile_sources
from penstock.diagnostics import CompileError, Source, Span
from penstock.diagnostics.codes.kinds import K015
from penstock.diagnostics.codes.running import R098
from penstock.explain import answer_text
from penstock.parser import ast, list_statements
from penstock.planner import Catalog
from penstock.remote_read import reads_tables
from penstock.stream_look import find_look

if TYPE_CHECKING:
    from penstock.codegen.program import Program
    from penstock.runtime import QueryHandle
    from penstock.session import Session

FIRST_SECONDS = 30.0
"""How long the first micro-batch of a query that was started is waited for."""
_STEP_SECONDS = 0.2


@dataclass
class Workspace:
    """What was declared and started so far.

    Attributes:
        master: the cluster on which Spark runs, None for this machine.
        checkpoint: the folder that queries resume from, None to begin anew each time.
        settings: settings of Spark.
        to_end: whether queries run over the input that is there, and end.
        last_read: the last SELECT that was answered.
    """

    master: str | None = None
    checkpoint: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    to_end: bool = False
    last_read: Source | None = None
    _declared: Catalog = field(default_factory=Catalog)
    _session: Session | None = None

    @property
    def catalog(self) -> Catalog:
        """What the names stand for."""
        return self._declared if self._session is None else self._session.catalog

    @property
    def queries(self) -> list[QueryHandle]:
        """The queries that were started and not stopped."""
        return [] if self._session is None else self._session.queries()

    def run(self, source: Source) -> None:
        """Runs the statements of a text, and prints what they answer. Those between two SELECTs are one script.

        Raises:
            CompileError: a statement is refused. The SELECTs and scripts before it have been run.
            RunError: a query cannot be started or a table cannot be read.
        """
        statements = list_statements(source)
        if not statements:
            for setting in compile_sources([source], self.catalog).statements:
                found = R098.at(setting.span, command="SET alone")
                raise CompileError([found.with_hint("type it in one text with the statement that it is for")])
            return
        is_select = {id(each): _is_select(each) for each, _ in statements}
        for is_one, group in groupby(statements, lambda each: is_select[id(each[0])]):
            if not is_one:
                self._run_script(Source(source.name, _join([text for _, text in group])))
                continue
            for statement, _ in group:
                self._run_select(Source(source.name, _cut_out(source.text, statement.span)))

    def tell_errors(self) -> None:
        """Prints why queries have failed since the last call."""
        if self._session is not None:
            show_findings(self._session.take_errors())

    def close(self) -> None:
        """Stops all queries, and Spark."""
        if self._session is not None:
            self.tell_errors()
            self._session.close()

    def _run_script(self, source: Source) -> None:
        compilation = compile(source.text, self.catalog, source.name)
        self._require_stopped(compilation.statements)
        if not compilation.queries:
            self._declare(compilation)
            return
        session = self._open(compilation.program)
        if self.to_end:
            show_findings(compilation.diagnostics)
            reports = session.run_once(source.text, source.name)
            show_findings(dict.fromkeys(each for report in reports for each in report.warnings))
            show_reports(reports, resumes=self.checkpoint is not None)
            return
        result = session.run(source.text, source.name)
        show_findings(result.warnings)
        for answer in result.answers:
            print(answer, end="")
        self._tell_begin(result.queries)

    def _declare(self, compilation: Compilation) -> None:
        if self._session is None:
            self._declared = compilation.catalog
        else:
            self._session.catalog = compilation.catalog
        show_findings(compilation.diagnostics)
        for answer in compilation.answers:
            print(answer_text(answer), end="")
        for statement in compilation.statements:
            if isinstance(statement, ast.Create | ast.CreateView):
                print(f"declared {statement.name.text}")
            elif isinstance(statement, ast.Drop):
                print(f"dropped {statement.name.text}")

    def _require_stopped(self, statements: Iterable[ast.Statement]) -> None:
        """Raises CompileError if a statement drops or replaces a relation whose query runs."""
        running = {each.name.lower(): each.name for each in self.queries}
        for each in statements:
            if isinstance(each, ast.Drop) or (
                isinstance(each, ast.Create | ast.CreateAs | ast.CreateView) and each.or_replace
            ):
                name = running.get(each.name.folded)
                if name is not None:
                    found = K015.at(each.name.span, "", name=each.name.text, users=name)
                    raise CompileError([found.with_hint(f"type \\stop {name} first")])

    def _run_select(self, source: Source) -> None:
        # Whoever sets Spark up may have its files elsewhere.
        look = None if self.master or self.settings else find_look(source, self.catalog)
        if look is not None:
            show_look(look, "text")
        else:
            self._answer(source)
        self.last_read = source

    def _answer(self, source: Source) -> None:
        from penstock import runtime

        read = compile_read(source, self.catalog, memory=self._session is not None)
        # Whoever sets Spark up may have its files elsewhere.
        is_here = self.master is None and not self.settings and all(each.holds_rows for each in read.inputs)
        rows = runtime.answer_locally(read.local) if is_here else None
        if rows is None:
            rows = self._open(None).sql(source.text, source.name)
        show_answer(read.columns, rows, "text")

    def _open(self, program: Program | None) -> Session:
        """The session, with Spark. A program that is given is tried first, so that Spark does not start in vain."""
        from penstock.runtime import check_before_start

        if program is not None:
            check_before_start(program, self.master, self.checkpoint)
        if self._session is None:
            from penstock.commands.live_line import STARTING, progress_shown
            from penstock.connections import connect

            with progress_shown() as line:
                line.say(STARTING)
                session = connect(self.master, self.checkpoint, self.settings)
            # Spark's own handler of Ctrl-C would end what running queries do.
            if current_thread() is main_thread():
                signal.signal(signal.SIGINT, signal.default_int_handler)
            session.catalog = self._declared
            self._session = session
        return self._session

    def _tell_begin(self, queries: tuple[QueryHandle, ...]) -> None:
        """Waits for the first micro-batch of each query, and says how it went. Ctrl-C waits no longer."""
        ends = time.monotonic() + FIRST_SECONDS
        with suppress(KeyboardInterrupt):
            while time.monotonic() < ends and any(_has_to_begin(each) for each in queries):
                time.sleep(_STEP_SECONDS)
        for text in describe_queries(queries):
            print(text)


def describe_queries(queries: tuple[QueryHandle, ...] | list[QueryHandle]) -> Iterator[str]:
    """A line for each query: whether it runs, and its counts."""
    from penstock.notebook import show_status

    return (show_status(each.status()) for each in queries)


def _has_to_begin(query: QueryHandle) -> bool:
    status = query.status()
    return status.running and status.batches == 0


def _is_select(statement: ast.Statement) -> bool:
    """Whether it reads tables, or is a look at a stream, which has a LIMIT."""
    if not isinstance(statement, ast.QueryStatement):
        return False
    query = statement.query
    return reads_tables(statement) or (isinstance(query, ast.Select) and query.limit is not None)


def _cut_out(text: str, span: Span) -> str:
    """A statement at its place, with blanks for what is before it."""
    return re.sub(r"[^\n]", " ", text[: span.start]) + text[span.start : span.end]


def _join(texts: list[str]) -> str:
    """Statements with their places: each text has blanks for what is before it."""
    joined = ""
    for text in texts:
        joined += text[len(joined) :] + ";"
    return joined
