"""A query that fills a table beside the one in force: it reads all that is there, in rounds, until it has caught up."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from datetime import UTC, datetime
from threading import Event

from penstock.codegen.program import Program, SparkQuery
from penstock.runtime import Reason, RunError, RuntimeSession, Status, span_text
from penstock.server.running.live_query import LiveQuery, RestartPolicy, explain_rest
from penstock.server.running.live_script import LiveDefinition
from penstock.server.running.steps import Steps, Submit

NEW = " (new)"
"""Ends the name of a query whose table is built beside the one in force."""
START_SECONDS = 10.0
"""How long a statement waits for the first micro-batch, so that a query which fails at once is refused."""
ROUND_SECONDS, MOST_ROUNDS = 10.0, 5
"""A round that takes less is the last one: what has come since is little. There are no more than so many."""
STALE_SECONDS = 60.0
"""How long after its last round a query may take its place."""


class BuildingQuery(LiveQuery):
    """The queries of one definition while its table is built. They end when they have caught up.

    A round reads each input up to where it was at the beginning of the round. So after the first one the table has all
    rows that were there when the building began. The next rounds read what has come meanwhile.
    """

    def __init__(
        self,
        definition: LiveDefinition,
        open_session: Callable[[], RuntimeSession],
        program: Program,
        submit: Submit,
        policy: RestartPolicy,
    ) -> None:
        super().__init__(definition, open_session, lambda _: [], lambda: None, submit, policy)
        self.is_caught_up = False
        self._program = program
        self._statuses: dict[str, Status] = {}
        self._halt, self._begun = Event(), Event()
        self._future: Future[None] | None = None
        self._round = 0
        self._ended = 0.0

    @property
    def is_stale(self) -> bool:
        """Whether much may have come since its last round. It has waited for others since."""
        return time.monotonic() - self._ended > STALE_SECONDS

    @property
    def name(self) -> str:
        return f"{self.definition.name}{NEW}"

    def start(self) -> Steps[None]:
        """Starts the first round. Raises RunError if it fails before its first micro-batch, or within ten seconds."""
        self._enter("STARTING")
        self.is_caught_up = False
        self._halt, self._begun = Event(), Event()
        future = self._future = self._submit(self._run)
        future.add_done_callback(lambda _, begun=self._begun: begun.set())  # type: ignore[misc]
        yield self._submit(lambda: self._begun.wait(START_SECONDS))
        if self._future is not future:  # it was stopped meanwhile
            return
        error = future.exception() if future.done() else None
        if error is not None:
            yield from self.stop()
            raise error
        self._enter("RUNNING")
        self.fault = None

    def stop(self) -> Steps[None]:
        """Ends the round. A micro-batch that it interrupts is written once, by the next start."""
        self._enter("STOPPED")
        future, self._future = self._future, None
        self._halt.set()
        if future is not None:
            yield self._submit(lambda: wait([future]))

    def hold(self) -> None:
        """Lets a query that has caught up, and cannot take its place, wait for RESUME."""
        self._future = None
        self._enter("HELD")

    def look(self) -> Steps[None] | None:
        """Notices the end of the rounds, failures, and a pause that is over."""
        if self.is_caught_up or self.state == "STARTING":
            return None
        if self._future is None:
            if self.state != "RETRYING" or time.monotonic() < self._next_start:
                return None
            self.restarts += 1
            return self.try_to_start()
        if self._future.done():
            error = self._future.exception()
            if isinstance(error, RunError):
                return self.fail(error)
            if error is not None:
                raise error
            self.is_caught_up = True
            return None
        if self.state in ("RUNNING", "RETRYING"):
            self._enter("RETRYING" if any(status.retrying for status in self._statuses.values()) else "RUNNING")
        return None

    def describe(self) -> Reason:
        """What is told of the building to who asks about the table."""
        relation = self.definition.relation
        if self._future is None:
            [rest] = explain_rest(self.state, self.since, self.fault, datetime.now(UTC))
            text = (
                f"The new query of {relation} does not run, and readers see the old one: {rest.text} "
                f"DROP QUERY `{self.name}` gives it up."
            )
            return Reason("replacing", text, rest.numbers)
        if self.is_caught_up and self.fault is not None:
            text = f"The new query of {relation} has caught up, and cannot take its place yet: {self.fault.message}."
            return Reason("replacing", text, {"code": self.fault.code})
        rows = sum(status.rows for status in list(self._statuses.values()))
        seconds = round((datetime.now(UTC) - self.since).total_seconds(), 3)
        text = (
            f"A new query of {relation} has been built for {span_text(seconds)}, and has read {rows} rows in its round "
            f"{self._round}. Readers see the old one until the new one has caught up."
        )
        return Reason("replacing", text, {"rows": rows, "round": self._round, "seconds": seconds})

    def _run(self) -> None:
        """All rounds, in another thread."""
        session = self._open_session()
        try:
            for self._round in range(1, MOST_ROUNDS + 1):
                began = time.monotonic()
                session.run_once(self._program, drain=False, progress=self._note, stopping=self._halt)
                if time.monotonic() - began < ROUND_SECONDS:
                    return
        finally:
            self._ended = time.monotonic()
            session.close()

    def _note(self, status: Status) -> None:
        self._statuses[status.name] = status
        self._begun.set()

    def _list_reasons(self, parts: list[tuple[SparkQuery, Status]]) -> tuple[Reason, ...]:
        rest = super()._list_reasons(parts) if parts else ()
        return (self.describe(), *rest)

    def _parts(self) -> list[tuple[SparkQuery, Status]]:
        if self._future is None:
            return []
        known = dict(self._statuses)
        return [(query, known[query.name]) for query in self._program.queries if query.name in known]
