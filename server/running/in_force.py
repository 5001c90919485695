"""What is in force: the definitions, their queries as they run, and what the catalog says of both."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import psycopg

from penstock import runtime
from penstock.codegen.program import Program
from penstock.diagnostics.codes.running import R060
from penstock.diagnostics.codes.server import V011
from penstock.runtime import QueryHandle, RunError, RuntimeSession
from penstock.server.planning.statement_planner import Added, Removed
from penstock.server.running.live_query import LiveQuery
from penstock.server.running.live_script import LiveDefinition, LiveScript, Planned
from penstock.server.running.public_tables import hide_relation, show_relation
from penstock.server.running.settings import EngineSettings
from penstock.server.running.statement_queue import StatementQueue
from penstock.server.running.steps import Steps, Works
from penstock.server.running.store import Store


class InForce:
    """The definitions in force. To be used by one thread. `live`: queries, `folders`: checkpoints, both by number."""

    def __init__(
        self, settings: EngineSettings, store: Store, script: LiveScript, queue: StatementQueue, works: Works
    ) -> None:
        self.settings, self.store, self.script, self.queue, self.works = settings, store, script, queue, works
        self.live: dict[int, LiveQuery] = {}
        self.folders: dict[int, str] = {}

    def name_folder(self, number: int) -> str:
        """The folder for the checkpoints of a new definition."""
        return f"{self.settings.state}/checkpoints/{number}"

    def add(self, planned: Planned, folder: str) -> None:
        """Puts a planned statement into force."""
        self.script.add(planned)
        self.queue.note(Added(planned))
        self.folders[planned.definition.number] = folder

    def remove(self, definition: LiveDefinition) -> None:
        """Takes a definition out of force whose queries have stopped, with its checkpoints. The catalog knows."""
        self.live.pop(definition.number, None)
        self.script.remove(definition)
        self.queue.note(Removed(definition))
        shutil.rmtree(Path(self.folders.pop(definition.number)), ignore_errors=True)

    def make_live(self, definition: LiveDefinition, program: Program | None) -> LiveQuery | None:
        """The queries of a definition, not yet started. None if it has none."""
        if program is None:
            return None
        folder = self.folders[definition.number]

        def start(session: RuntimeSession) -> list[QueryHandle]:
            return session.start(program)

        def show() -> None:
            try:
                show_relation(self.store.db, definition)
            except psycopg.Error as error:
                found = R060.at(None, query=program.queries[0].name, reason=str(error).strip())
                raise RunError([found]) from error

        policy, submit = self.settings.restarts, self.works.submit
        live = LiveQuery(definition, lambda: runtime.connect(None, folder), start, show, submit, policy)
        self.live[definition.number] = live
        return live

    def forget(self, definition: LiveDefinition) -> Steps[None]:
        """Stops the queries of a definition, and removes all that they have made.

        Raises psycopg.Error, and lets the queries go on, while others hold a lock on the table. If the connection is
        lost, the table may be gone: they stay stopped until the engine has looked at the catalog.
        """
        live = self.live.get(definition.number)
        stopped = None if live is None or live.state in ("PAUSED", "HELD") else live
        if stopped is not None:
            yield from stopped.stop()
        try:
            hide_relation(self.store.db, definition, partial(self.store.forget, definition))
        except psycopg.Error:
            if stopped is not None and not self.store.db.closed:
                yield from stopped.try_to_start()
            raise
        self.remove(definition)

    def report(self, live: LiveQuery) -> None:
        """Tells the catalog how a query is."""
        fault = None
        if live.fault is not None:
            fault = live.fault.code, live.fault.message
            if live.state == "HELD":
                count = self.settings.restarts.attempts + 1
                fault = live.fault.code, V011.at(None, name=live.name, count=count, reason=live.fault.message).message
        self.store.report(live.name, live.state, live.restarts, fault, live.status())
