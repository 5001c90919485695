"""The engine: takes statements out of PostgreSQL, and keeps their queries running until it is told to stop."""

from __future__ import annotations

import logging
import shutil
import time
from datetime import datetime
from pathlib import Path
from threading import Event

import psycopg

from penstock import codegen, runtime
from penstock.codegen.program import Program
from penstock.diagnostics import CompileError, Source
from penstock.diagnostics.codes.running import R040, R060
from penstock.diagnostics.codes.server import V004, V011, V012
from penstock.parser import ast, list_statements
from penstock.partition_check import compare_places
from penstock.runtime import QueryHandle, RunError, RuntimeSession
from penstock.server.database.bootstrap import name_holders
from penstock.server.engine_protocol import QUERY_COLUMNS, StatementAnswer
from penstock.server.planning.statement_planner import (
    Added,
    Direct,
    PlannedStatement,
    Removed,
    answer_from_catalog,
    names_of,
    plan_made,
)
from penstock.server.running.answer_why import answer_why
from penstock.server.running.live_query import LiveQuery, show_query
from penstock.server.running.live_script import (
    MAKING,
    LiveDefinition,
    LiveScript,
    Planned,
    check_submitted,
)
from penstock.server.running.public_tables import (
    check_free,
    check_names,
    delete_old_windows,
    hide_relation,
    show_relation,
)
from penstock.server.running.rights import check_owner, is_owner
from penstock.server.running.settings import EngineSettings
from penstock.server.running.statement_queue import PLACES, Ready, StatementQueue
from penstock.server.running.steps import Steps, Works, await_steps
from penstock.server.running.store import Store, WaitingStatement

LOG = logging.getLogger("penstock.engine")
LOOK_SECONDS, REPORT_SECONDS, TRIM_SECONDS, PRUNE_SECONDS = 0.25, 1.0, 5.0, 60.0


class EngineProcess:
    """An engine over a connection to the catalog, which only it uses."""

    def __init__(self, settings: EngineSettings, db: psycopg.Connection) -> None:
        self._settings = settings
        self._store = Store(db)
        self._script = LiveScript(settings.home)
        self._live: dict[int, LiveQuery] = {}
        self._folders: dict[int, str] = {}
        self._spark: RuntimeSession | None = None
        self._queue = StatementQueue(settings, self._script)
        self._works = Works(self._queue.wake)
        self._ready: list[Ready] = []
        self._reported = self._pruned = self._trimmed = 0.0

    def run(self, stopping: Event) -> None:
        """Runs what is in force, the files, and what comes, until `stopping` is set.

        Raises:
            RunError: Spark does not come up, or has ended.
            CompileError: a file is refused.
        """
        self._store.prepare()
        self._check_files()
        with runtime.connect(self._settings.master, None, self._settings.spark) as spark:
            self._spark = spark
            try:
                self._restore(stopping)
                for name, text in self._settings.files:
                    self._run_file(Source(name, text))
                self._store.say("READY")
                self._queue.start()
                while not stopping.is_set():
                    try:
                        self._work()
                    except (psycopg.errors.LockNotAvailable, psycopg.errors.QueryCanceled) as error:
                        LOG.warning("the catalog is locked: %s: %s", error, name_holders(self._store.db))
                        stopping.wait(LOOK_SECONDS)
                    except psycopg.OperationalError:
                        if not self._store.db.closed:
                            raise
                        self._reconnect(stopping)
            finally:
                self._queue.close()
                self._stop_all()
        if not self._store.db.closed:
            self._store.say("STOPPED")

    def _work(self) -> None:
        """Carries out statements that are ready, and looks at the queries."""
        ready = self._queue.next(LOOK_SECONDS)
        if ready is not None:
            self._ready.append(ready)
        self._works.go_on()
        waiting, self._ready = self._ready, []
        for ready in waiting:
            made, read = names_of(ready.does, self._script)
            if self._works.forbid(made, read):
                self._ready.append(ready)
            else:
                self._works.begin(self._queue.carry_out(ready, self._apply), made, read)
        self._look()

    def _stop_all(self) -> None:
        """Stops all queries at once, each at the end of its micro-batch."""
        self._works.end(each.stop() for each in self._live.values())

    def _reconnect(self, stopping: Event) -> None:
        """Waits for a PostgreSQL that has gone away. Queries are retried meanwhile.

        Raises psycopg.OperationalError if the catalog is not what this process knows: the next one begins with it.
        """
        LOG.warning("the connection to PostgreSQL is lost")
        while not stopping.wait(LOOK_SECONDS):
            for live in self._live.values():
                steps = None if self._works.forbid(live.definition.names) else live.look()
                if steps is not None:
                    await_steps(steps)
            try:
                self._store.db = self._settings.connect()
                self._store.say("READY")
            except psycopg.OperationalError:
                continue
            known = dict.fromkeys(self._script.definitions, False)
            known |= {number: live.state == "PAUSED" for number, live in self._live.items()}
            if known != {kept.number: kept.is_paused for kept in self._store.kept()}:
                raise psycopg.OperationalError("a statement was interrupted")
            LOG.info("PostgreSQL is there again")
            return

    def _check_files(self) -> None:
        """Raises CompileError if a file is refused, before Spark is started."""
        script = LiveScript(self._settings.home)
        for kept in self._store.kept():
            script.add(script.plan_again(kept.number, kept.text, kept.author, kept.taken))
        for name, text in self._settings.files:
            for statement, part in self._list_new(script, Source(name, text)):
                if isinstance(statement, ast.Show | ast.Describe | ast.Explain | ast.Drop | ast.Pause | ast.Resume):
                    raise CompileError([V012.at(statement.span, "", statement=type(statement).__name__.upper())])
                check_submitted(statement)
                number = max(script.definitions, default=0) + 1
                planned = script.plan(statement, Source(name, part), number, self._settings.author, frozenset())
                if planned.replaced is not None:
                    script.remove(planned.replaced)
                script.add(planned)

    def _restore(self, stopping: Event) -> None:
        for kept in self._store.kept():
            planned = self._script.plan_again(kept.number, kept.text, kept.author, kept.taken)
            self._script.add(planned)
            self._folders[kept.number] = kept.folder
            self._store.note_lineage(planned.definition)  # older servers have noted none
            queries, settings = planned.definition.queries, planned.compilation.settings
            live = self._live_query(planned.definition, codegen.lower(queries, settings) if queries else None)
            if live is None:
                continue
            if kept.is_paused:
                await_steps(live.pause())
            elif not stopping.is_set():
                await_steps(live.try_to_start())
            self._report(live)

    def _run_file(self, file: Source) -> None:
        for statement, text in self._list_new(self._script, file):
            waiting = self._store.add_file_statement(text, self._settings.author)
            try:
                answer = self._run(waiting, [(statement, text)], file.name)
            except RunError as error:
                self._require_spark()
                raise CompileError(error.diagnostics) from None
            self._store.answer(waiting.number, answer, text)

    def _list_new(self, script: LiveScript, file: Source) -> list[tuple[ast.Statement, str]]:
        """The statements of a file that are not in force, and whose relation nobody has replaced since."""
        known = {each.text for each in script.definitions.values()}
        listed = []
        for statement, text in list_statements(file):
            is_there = isinstance(statement, MAKING) and script.find_relation(statement.name.text) is not None
            if text.strip() not in known and not (is_there and self._store.has_run(text)):
                listed.append((statement, text))
        return listed

    def _run(
        self, waiting: WaitingStatement, statements: list[tuple[ast.Statement, str]], file: str
    ) -> StatementAnswer:
        """Runs statements of a file of the operator's in order. They may reach what they like."""
        answer = StatementAnswer("SET")
        for place, (statement, text) in enumerate(statements):
            check_submitted(statement)
            number = waiting.number * PLACES + place
            match statement:
                case ast.Drop() | ast.Pause() | ast.Resume() | ast.ExplainWhy() | ast.Show(kind=ast.ShowKind.QUERIES):
                    answer = await_steps(self._apply(statement, waiting, number))
                case ast.Show() | ast.ShowCreate() | ast.Describe() | ast.Explain():
                    answer = answer_from_catalog(text, self._script.catalog)
                case ast.SetOption():
                    raise CompileError([V012.at(statement.span, "", statement="SET alone")])
                case _:
                    made = plan_made(self._script, statement, Source(file, text), number, waiting.author)
                    if isinstance(made, PlannedStatement):
                        made = await_steps(self._create(made, number, is_file=True))
                    answer = made
        return answer

    def _apply(self, does: PlannedStatement | Direct, waiting: WaitingStatement, number: int) -> Steps[StatementAnswer]:
        """Carries out a statement of a user."""
        match does:
            case PlannedStatement():
                return (yield from self._create(does, number, is_file=False))
            case ast.Drop():
                return (yield from self._drop(does, waiting.author))
            case ast.Pause() | ast.Resume():
                return (yield from self._pause(does, waiting.author))
            case ast.Show():
                return StatementAnswer("SHOW", QUERY_COLUMNS, tuple(map(show_query, self._live.values())))
            case ast.ExplainWhy():
                return answer_why(does.name.text, self._live[self._script.find_query(does.name).number])

    def _create(self, made: PlannedStatement, number: int, *, is_file: bool) -> Steps[StatementAnswer]:
        planned = made.planned
        definition, compilation = planned.definition, planned.compilation
        author = definition.author
        if definition.relation is not None and not is_file:
            self._settings.allowed.check(definition.relation, planned.catalog)
        self._check_count(planned)
        compare_places(compilation, planned.over)
        for name in sorted(definition.writes):
            written = self._script.find_relation(name)
            if written is not None:
                check_owner(self._store, written, author, "write into")
        check_names(definition, self._script.definitions.values())
        if planned.replaced is not None:
            check_owner(self._store, planned.replaced, author, "replace")
        check_free(self._store.db, definition, planned.replaced)
        version = 1 + (0 if definition.relation is None else self._store.find_version(definition.relation))
        if planned.replaced is not None:
            yield from self._forget(self._script.definitions[planned.replaced.number])
        self._add(planned)
        self._folders[number] = f"{self._settings.state}/checkpoints/{number}"
        live = self._live_query(definition, made.program)
        try:
            self._store.keep(definition, self._folders[number], made.columns, made.graph, version)
            if live is not None:
                yield from live.start()
        except Exception:
            yield from self._forget(definition)
            raise
        if live is not None:
            self._report(live)
        warnings = tuple(each.message for each in compilation.diagnostics)
        started = () if live is None or definition.name is None else (definition.name,)
        return StatementAnswer(made.tag, notices=warnings, queries=started)

    def _add(self, planned: Planned) -> None:
        self._script.add(planned)
        self._queue.note(Added(planned))

    def _live_query(self, definition: LiveDefinition, program: Program | None) -> LiveQuery | None:
        if program is None:
            return None
        folder = self._folders[definition.number]

        def start(session: RuntimeSession) -> list[QueryHandle]:
            return session.start(program)

        def show() -> None:
            try:
                show_relation(self._store.db, definition)
            except psycopg.Error as error:
                found = R060.at(None, query=program.queries[0].name, reason=str(error).strip())
                raise RunError([found]) from error

        policy = self._settings.restarts
        live = LiveQuery(definition, lambda: runtime.connect(None, folder), start, show, self._works.submit, policy)
        self._live[definition.number] = live
        return live

    def _drop(self, statement: ast.Drop, author: str) -> Steps[StatementAnswer]:
        definition = self._script.find_dropped(statement)
        tag = f"DROP {statement.kind.value}"
        if definition is None:
            return StatementAnswer(tag, notices=(f"{statement.name.text} does not exist",))
        check_owner(self._store, definition, author, "drop")
        yield from self._forget(definition)
        return StatementAnswer(tag)

    def _forget(self, definition: LiveDefinition) -> Steps[None]:
        """Stops the queries of a definition, and removes all that they have made.

        Raises psycopg.Error, and lets the queries go on, while others hold a lock on the table.
        """
        live = self._live.get(definition.number)
        stopped = None if live is None or live.state in ("PAUSED", "HELD") else live
        if stopped is not None:
            yield from stopped.stop()
        try:
            hide_relation(self._store.db, definition)
        except psycopg.Error:
            if stopped is not None:
                yield from stopped.try_to_start()
            raise
        self._live.pop(definition.number, None)
        self._script.remove(definition)
        self._queue.note(Removed(definition))
        self._store.forget(definition)
        shutil.rmtree(Path(self._folders.pop(definition.number)), ignore_errors=True)

    def _pause(self, statement: ast.Pause | ast.Resume, author: str) -> Steps[StatementAnswer]:
        definition = self._script.find_query(statement.name)
        is_pause = isinstance(statement, ast.Pause)
        check_owner(self._store, definition, author, "pause" if is_pause else "resume")
        live = self._live[definition.number]
        if is_pause:
            yield from live.pause()
        elif live.state in ("PAUSED", "HELD"):
            yield from live.resume()
        self._store.pause(definition, is_pause)
        self._report(live)
        return StatementAnswer("PAUSE QUERY" if is_pause else "RESUME QUERY")

    def _check_count(self, planned: Planned) -> None:
        if not planned.definition.queries:
            return
        author, most = planned.definition.author, self._settings.max_queries
        count = len(self._live) - (planned.replaced is not None)
        own = sum(each.definition.author == author for each in self._live.values()) - (planned.replaced is not None)
        share = most - most // 5  # others get at least the rest
        if count >= most:
            raise CompileError([V004.at(None, count=count).with_hint("DROP QUERY of one that nobody needs")])
        if own >= share and not is_owner(self._store, author):
            found = V004.at(None, count=count).because(f"{author} has {own} of them, and {share} are its share.")
            raise CompileError([found.with_hint("DROP QUERY of one that nobody needs")])

    def _require_spark(self) -> None:
        """Raises RunError if Spark is gone."""
        assert self._spark is not None, "Spark is started first"
        if self._spark.has_ended:
            raise RunError([R040.at(None, query="the engine")])

    def _look(self) -> None:
        self._require_spark()
        for live in list(self._live.values()):
            names = live.definition.names
            steps = None if self._works.forbid(names) else live.look()
            if steps is not None:
                self._works.begin(steps, names)
        now = time.monotonic()
        if now - self._reported >= REPORT_SECONDS:
            self._reported = now
            for live in self._live.values():
                self._report(live)
            self._store.say("READY")
        if now - self._pruned >= PRUNE_SECONDS:
            self._pruned = now
            for live in self._live.values():
                self._prune(live)
            self._store.trim_statements(self._settings.max_statements, self._settings.statement_log_bytes)
        if now - self._trimmed >= TRIM_SECONDS:
            self._trimmed = now
            self._store.trim_changes(self._settings.max_changes)

    def _prune(self, live: LiveQuery) -> None:
        """Deletes old windows; if a writer holds their rows, at the next time."""
        watermark = live.status().get("watermark")
        try:
            if watermark is not None:
                delete_old_windows(self._store.db, live.definition, datetime.fromisoformat(watermark))
        except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected) as error:
            LOG.info("windows of %s are deleted later: %s", live.definition.relation, error)

    def _report(self, live: LiveQuery) -> None:
        name = live.definition.name
        assert name is not None, "a live query has a name"
        fault = None
        if live.fault is not None:
            fault = live.fault.code, live.fault.message
            if live.state == "HELD":
                count = self._settings.restarts.attempts + 1
                fault = live.fault.code, V011.at(None, name=name, count=count, reason=live.fault.message).message
        self._store.report(name, live.state, live.restarts, fault, live.status())
