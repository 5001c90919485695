"""The engine: takes statements out of PostgreSQL, and keeps their queries running until it is told to stop."""

from __future__ import annotations

import logging
import time
from datetime import datetime
from threading import Event

import psycopg

from penstock import codegen, runtime
from penstock.diagnostics import CompileError, Source
from penstock.diagnostics.codes.running import R040
from penstock.diagnostics.codes.server import V004, V012
from penstock.parser import ast
from penstock.partition_check import compare_places
from penstock.runtime import RunError, RuntimeSession
from penstock.server.database.bootstrap import name_holders
from penstock.server.engine_protocol import QUERY_COLUMNS, StatementAnswer
from penstock.server.planning.statement_planner import (
    Direct,
    PlannedStatement,
    answer_from_catalog,
    names_of,
    plan_made,
)
from penstock.server.running.answer_why import answer_why
from penstock.server.running.building_tables import check_buildable
from penstock.server.running.file_changes import check_steps, compare_files, find_doors, list_running, plan_steps
from penstock.server.running.in_force import InForce
from penstock.server.running.live_query import LiveQuery, show_query
from penstock.server.running.live_script import LiveScript, Planned, check_submitted, names_in
from penstock.server.running.new_statements import check_files, list_new
from penstock.server.running.public_tables import check_free, check_names, delete_old_windows, list_relations
from penstock.server.running.reading_views import check_unread
from penstock.server.running.replacements import Replacements
from penstock.server.running.rights import check_owner, is_owner
from penstock.server.running.settings import EngineSettings
from penstock.server.running.statement_queue import PLACES, Ready, StatementQueue
from penstock.server.running.steps import Steps, Works, await_steps
from penstock.server.running.store import Store, WaitingStatement
from penstock.server.running.swaps import Replacement

LOG = logging.getLogger("penstock.engine")
LOOK_SECONDS, REPORT_SECONDS, TRIM_SECONDS, PRUNE_SECONDS = 0.25, 1.0, 5.0, 60.0


class EngineProcess:
    """An engine over a connection to the catalog, which only it uses."""

    def __init__(self, settings: EngineSettings, db: psycopg.Connection) -> None:
        self._settings = settings
        self._store = Store(db)
        self._script = LiveScript(settings.home)
        self._spark: RuntimeSession | None = None
        self._queue = StatementQueue(settings, self._script)
        self._works = Works(self._queue.wake)
        self._force = InForce(settings, self._store, self._script, self._queue, self._works)
        self._changes = Replacements(self._force)
        self._live = self._force.live
        self._ready: list[Ready] = []
        self._reported = self._pruned = self._trimmed = 0.0

    def run(self, stopping: Event) -> None:
        """Runs what is in force, the files, and what comes, until `stopping` is set.

        Raises:
            RunError: Spark does not come up, or has ended.
            CompileError: a file is refused.
        """
        self._store.prepare()
        check_files(self._settings, self._store)
        with runtime.connect(self._settings.master, None, self._settings.spark) as spark:
            self._spark = spark
            try:
                self._restore(stopping)
                if self._settings.apply:
                    self._apply_files()
                else:
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
        self._works.end(each.stop() for each in self._list_live())

    def _list_live(self) -> list[LiveQuery]:
        """All queries, in force and being built."""
        return [*self._live.values(), *self._changes.buildings]

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
            built = {row.number: row.is_paused for row in self._store.list_building()}
            if known != {kept.number: kept.is_paused for kept in self._store.kept()} or self._changes.paused != built:
                raise psycopg.OperationalError("a statement was interrupted")
            for live in self._live.values():
                names = live.definition.names
                if live.state == "STOPPED" and not self._works.forbid(names):  # what stopped it has not been committed
                    self._works.begin(live.try_to_start(), names)
            LOG.info("PostgreSQL is there again")
            return

    def _restore(self, stopping: Event) -> None:
        for kept in self._store.kept():
            planned = self._script.plan_again(kept.number, kept.text, kept.author, kept.taken)
            self._script.add(planned)
            self._force.folders[kept.number] = kept.folder
            self._store.note_lineage(planned.definition)  # older servers have noted none
            queries, settings = planned.definition.queries, planned.compilation.settings
            live = self._force.make_live(planned.definition, codegen.lower(queries, settings) if queries else None)
            if live is None:
                continue
            if kept.is_paused:
                await_steps(live.pause())
            elif not stopping.is_set():
                await_steps(live.try_to_start())
            self._force.report(live)
        self._changes.restore()

    def _run_file(self, file: Source) -> None:
        for statement, text in list_new(self._settings, self._store, self._script, file):
            self._await_changes(statement)
            self._run_file_statement(statement, text, file.name)

    def _run_file_statement(self, statement: ast.Statement, text: str, file: str) -> None:
        waiting = self._store.add_statement(text, self._settings.author)
        try:
            answer = self._run(waiting, [(statement, text)], file)
        except RunError as error:
            self._require_spark()
            raise CompileError(error.diagnostics) from None
        self._store.answer(waiting.number, answer, text)

    def _await_changes(self, statement: ast.Statement) -> None:
        """Waits until what a statement of a file reads is no longer being replaced by one before it."""
        names = names_in(statement)
        while touching := self._changes.find_touching(names):
            if any(query.state == "HELD" for change in touching for query in change.buildings):
                return  # which is refused then
            self._works.go_on()
            self._changes.look()
            time.sleep(LOOK_SECONDS)

    def _apply_files(self) -> None:
        """Makes what is new in the files, and begins to build what has changed beside what is in force."""
        settings, store = self._settings, self._store
        difference = compare_files(settings, store, self._script, list_running(store))
        for number in difference.joined:
            await_steps(self._changes.cancel(self._changes.find_numbered(number)))
        for new in difference.new:
            self._run_file_statement(new.statement, new.text, new.file)
        if not difference.steps:
            return
        doors = find_doors(self._script, store)
        waiting = [
            store.add_statement(
                each.text,
                each.author,
                each.door or ("file" if each.replaces is None else doors(each.replaces) or "http"),
            )
            for each in difference.steps
        ]
        numbers = [each.number * PLACES for each in waiting]
        plans = plan_steps(self._script, difference.steps, numbers)
        check_steps(self._script, store, difference.steps, plans)
        replaced = [each.replaces for each in difference.steps]
        await_steps(self._changes.begin([*zip(plans, replaced, strict=True)], waits=False))
        for each, planned in zip(waiting, plans, strict=True):
            store.answer(each.number, StatementAnswer(planned.tag), each.text)

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
                return StatementAnswer("SHOW", QUERY_COLUMNS, tuple(map(show_query, self._list_live())))
            case ast.ExplainWhy():
                return answer_why(does.name.text, self._find_live(does.name))

    def _create(self, made: PlannedStatement, number: int, *, is_file: bool) -> Steps[StatementAnswer]:
        planned, store = made.planned, self._store
        definition, replaced = planned.definition, planned.replaced
        author = definition.author
        if definition.relation is not None and not is_file:
            self._settings.allowed.check(definition.relation, planned.catalog)
        self._check_count(planned)
        compare_places(planned.compilation, planned.over)
        for name in sorted(definition.writes):
            written = self._script.find_relation(name)
            if written is not None:
                check_owner(store, written, author, "write into")
        check_names(definition, self._script.definitions.values())
        check_free(store.db, definition, replaced)
        if replaced is not None:
            check_owner(store, replaced, author, "replace")
            check_buildable(store.db, definition, replaced)
            former = self._changes.find_replacing(replaced)
            if former is not None:
                self._check_owners(former, author, "replace")
                yield from self._changes.cancel(former)
        self._changes.check_untouched(definition.names, definition.reads)
        notices = tuple(each.message for each in planned.compilation.diagnostics)
        if replaced is not None:
            change = yield from self._changes.begin([(made, replaced)], waits=True)
            names = tuple(each.name for each in change.buildings)
            if names:
                notices += (f"{definition.relation} is built beside the old one, which stays until then",)
            return StatementAnswer(made.tag, notices=notices, queries=names)
        self._force.add(planned, self._force.name_folder(number))
        live = self._force.make_live(definition, made.program)
        try:
            store.keep(definition, self._force.folders[number], made.columns, made.graph, 1)
            if live is not None:
                yield from live.start()
        except Exception:
            yield from self._force.forget(definition)
            raise
        if live is not None:
            self._force.report(live)
        return StatementAnswer(made.tag, notices=notices, queries=() if live is None else (live.name,))

    def _drop(self, statement: ast.Drop, author: str) -> Steps[StatementAnswer]:
        tag = f"DROP {statement.kind.value}"
        found = self._changes.find(statement.name) if statement.kind is ast.DropKind.QUERY else None
        if found is not None:
            change, _ = found
            self._check_owners(change, author, "drop")
            yield from self._changes.cancel(change)
            return StatementAnswer(tag)
        definition = self._script.find_dropped(statement)
        if definition is None:
            return StatementAnswer(tag, notices=(f"{statement.name.text} does not exist",))
        check_owner(self._store, definition, author, "drop")
        self._changes.check_untouched(definition.names, frozenset())
        check_unread(self._store.db, list_relations(definition))
        yield from self._force.forget(definition)
        return StatementAnswer(tag)

    def _check_owners(self, change: Replacement, author: str, action: str) -> None:
        """Raises CompileError for a role that may not do this to all that takes effect with a change."""
        for each in change.members:
            check_owner(self._store, each.definition, author, action)

    def _find_live(self, name: ast.Name) -> LiveQuery:
        """The queries of that name, in force or being built. Raises CompileError."""
        found = self._changes.find(name)
        return self._live[self._script.find_query(name).number] if found is None else found[1]

    def _pause(self, statement: ast.Pause | ast.Resume, author: str) -> Steps[StatementAnswer]:
        live = self._find_live(statement.name)
        is_pause = isinstance(statement, ast.Pause)
        check_owner(self._store, live.definition, author, "pause" if is_pause else "resume")
        change = self._changes.find(statement.name)
        if change is not None:  # the whole change waits for it
            self._check_owners(change[0], author, "pause" if is_pause else "resume")
        if is_pause:
            yield from live.pause()
        elif live.state in ("PAUSED", "HELD"):
            yield from live.resume()
        self._store.pause(live.definition, is_pause)
        self._force.report(live)
        return StatementAnswer("PAUSE QUERY" if is_pause else "RESUME QUERY")

    def _check_count(self, planned: Planned) -> None:
        if not planned.definition.queries:
            return
        author, most = planned.definition.author, self._settings.max_queries
        running = [*self._live.values(), *self._changes.buildings]
        count = len(running) - (planned.replaced is not None)
        own = sum(each.definition.author == author for each in running) - (planned.replaced is not None)
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
        self._changes.look()
        now = time.monotonic()
        if now - self._reported >= REPORT_SECONDS:
            self._reported = now
            for live in self._list_live():
                self._force.report(live)
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
