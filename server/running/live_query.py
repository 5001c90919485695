"""The queries of one definition as they run: started, paused, begun again after failures."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from penstock.codegen.program import SparkQuery
from penstock.diagnostics import Diagnostic
from penstock.runtime import (
    QueryHandle,
    Reason,
    RunError,
    RuntimeSession,
    Status,
    list_reasons,
    moment_text,
    span_text,
)
from penstock.server.running.live_script import LiveDefinition
from penstock.server.running.steps import Steps, Submit

TABLE_COUNTS = ("name", "puts", "updates", "deletes", "rejected", "batches", "retries")
QueryState = Literal["STARTING", "RUNNING", "PAUSED", "RETRYING", "HELD", "STOPPED"]


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """A query that fails more than `attempts` times within `window` seconds is held.

    `pauses`: the seconds before each new start.
    """

    attempts: int = 3
    window: float = 600
    pauses: tuple[float, ...] = (1, 5, 25)


class LiveQuery:
    """The queries of one definition. To be used by one thread; what waits for Spark is a step in another.

    `open_session` makes a connection to Spark whose checkpoints belong to this definition. `show` shows users what the
    queries write, once they run.
    """

    def __init__(
        self,
        definition: LiveDefinition,
        open_session: Callable[[], RuntimeSession],
        start: Callable[[RuntimeSession], list[QueryHandle]],
        show: Callable[[], None],
        submit: Submit,
        policy: RestartPolicy,
    ) -> None:
        self.definition = definition
        self.state: QueryState = "STARTING"
        self.since = datetime.now(UTC)
        self.fault: Diagnostic | None = None
        self.restarts = 0
        self.explain_replacement: Callable[[], Reason] | None = None
        """Tells of a query that is built to take the place of this one."""
        self._open_session, self._start, self._show, self._policy = open_session, start, show, policy
        self._submit = submit
        self._session: RuntimeSession | None = None
        self._handles: list[QueryHandle] = []
        self._failures: deque[float] = deque(maxlen=policy.attempts)
        self._next_start = 0.0
        self._figures: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """What users call the queries: the name of the first one."""
        assert self.definition.name is not None, "a live query has a name"
        return self.definition.name

    def start(self) -> Steps[None]:
        """Starts the queries.

        Raises:
            RunError: they cannot be started. They are stopped then.
        """
        self._enter("STARTING")
        try:
            self._handles = yield self._submit(self._begin)
            self._show()
        except Exception:
            yield from self.stop()
            raise
        self._enter("RUNNING")
        self.fault = None

    def _begin(self) -> list[QueryHandle]:
        self._session = self._open_session()
        return self._start(self._session)

    def stop(self) -> Steps[None]:
        """Stops the queries at the end of their micro-batches."""
        self._enter("STOPPED")
        session, self._session, self._handles = self._session, None, []
        if session is not None:
            with suppress(RunError):  # rejected rows could not be written: they are written at the next start
                yield self._submit(session.close)

    def pause(self) -> Steps[None]:
        """Stops the queries until `resume`."""
        yield from self.stop()
        self._enter("PAUSED")

    def resume(self) -> Steps[None]:
        """Starts queries that are paused or held. Raises RunError."""
        self._failures.clear()
        yield from self.start()

    def fail(self, error: RunError) -> Steps[None]:
        """Notes a failure, and plans the next start."""
        yield from self.stop()
        self.fault = error.diagnostics[0]
        now = time.monotonic()
        recent = [each for each in self._failures if each > now - self._policy.window]
        if len(recent) >= self._policy.attempts:
            self._enter("HELD")
            return
        self._failures.append(now)
        self._enter("RETRYING")
        self._next_start = now + self._policy.pauses[min(len(recent), len(self._policy.pauses) - 1)]

    def try_to_start(self) -> Steps[None]:
        """Starts the queries; a failure is noted."""
        try:
            yield from self.start()
        except RunError as error:
            yield from self.fail(error)

    def look(self) -> Steps[None] | None:
        """Notices failures, and queries whose pause is over. Returns what is to be done, if anything is."""
        try:
            if self.state == "RETRYING" and self._session is None:
                if time.monotonic() < self._next_start:
                    return None
                self.restarts += 1
                return self.try_to_start()
            for handle in self._handles:
                if not handle.status().running:
                    handle.await_done(0)
            if self.state in ("RUNNING", "RETRYING"):
                waiting = any(status.retrying for _, status in self._parts())
                self._enter("RETRYING" if waiting else "RUNNING")
        except RunError as error:
            return self.fail(error)
        return None

    def status(self) -> dict[str, Any]:
        """What the doors show of the queries: the figures of their last run, and what holds back their rows."""
        parts = self._parts()
        if parts:
            self._figures = status_json([status for _, status in parts])
        elif self._figures:
            self._figures = rest_figures(self._figures, datetime.now(UTC))
        return {**self._figures, "reasons": [asdict(each) for each in self._list_reasons(parts)]}

    def list_reasons(self) -> tuple[Reason, ...]:
        """What holds back rows of the queries, what matters most first."""
        return self._list_reasons(self._parts())

    def _list_reasons(self, parts: list[tuple[SparkQuery, Status]]) -> tuple[Reason, ...]:
        now = datetime.now(UTC)
        told = () if self.explain_replacement is None else (self.explain_replacement(),)
        rest = list_reasons(parts, now) if parts else explain_rest(self.state, self.since, self.fault, now)
        return (*told, *rest)

    def _parts(self) -> list[tuple[SparkQuery, Status]]:
        return [(handle.query, handle.status()) for handle in self._handles]

    def _enter(self, state: QueryState) -> None:
        if state != self.state:
            self.state, self.since = state, datetime.now(UTC)


def show_query(live: LiveQuery) -> tuple[str | None, ...]:
    """The row of a query in SHOW QUERIES: QUERY_COLUMNS."""
    status = live.status()
    fault = "" if live.fault is None else f"{live.fault.code}: {live.fault.message}"
    definition = live.definition
    shown = live.name, live.state, definition.relation, definition.author
    return (*shown, str(status.get("batch", "")), str(status.get("out", "")), fault)


def status_json(statuses: Sequence[Status]) -> dict[str, Any]:
    """The queries of a definition as one: its last query writes, and all of them hold state."""
    last = statuses[-1]
    inputs = {each.name: each for status in statuses for each in status.inputs if not each.name.startswith("_")}
    newest = [time_ for status in statuses for time_ in status.newest.values()]
    return {
        "batch": last.batches,
        "out": last.out,
        "input_rate": sum(status.read_rate for status in statuses),
        "output_rate": last.written_rate,
        "watermark": _text(last.watermark),
        "newest": _text(max(newest, default=None)),
        "lag_seconds": (datetime.now(UTC) - max(newest)).total_seconds() if newest else None,
        "state_rows": sum(status.state_rows for status in statuses),
        "state_bytes": sum(status.state_bytes for status in statuses),
        "batch_seconds": last.batch_seconds,
        "inputs": [
            {
                "name": each.name,
                "in": each.read,
                "rejected": each.rejected,
                "late": each.late,
                "filtered": each.filtered,
                "used": each.used,
            }
            for each in inputs.values()
        ],
        "tables": [
            {
                name: getattr(status.table, name)
                for name in ("name", "puts", "updates", "deletes", "rejected", "retries")
            }
            for status in statuses
            if status.table is not None
        ],
        "retrying": next((status.retrying for status in statuses if status.retrying), None),
    }


def rest_figures(figures: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """The figures of queries that do not run: nothing comes in or goes out, and the lag grows."""
    newest = figures.get("newest")
    lag = None if newest is None else (now - datetime.fromisoformat(newest)).total_seconds()
    return {**figures, "input_rate": 0.0, "output_rate": 0.0, "lag_seconds": lag}


def explain_rest(state: QueryState, since: datetime, fault: Diagnostic | None, now: datetime) -> tuple[Reason, ...]:
    """Why queries do not run that are in this state."""
    seconds = round((now - since).total_seconds(), 3)
    numbers: dict[str, int | float | str] = {"since": since.isoformat(), "seconds": seconds}
    failed = ""
    if fault is not None:
        failed = f" It failed with {fault.code}: {fault.message}."
        numbers["code"] = fault.code
    at = f"for {span_text(seconds)}, since {moment_text(since)}"
    match state:
        case "PAUSED":
            return (Reason("paused", f"The query has been paused {at}. RESUME QUERY lets it go on.", numbers),)
        case "HELD":
            text = f"The query has been held {at}.{failed} RESUME QUERY starts it once more."
            return (Reason("held", text, numbers),)
        case "RETRYING":
            text = f"The query has not run {at}.{failed} It is started again after a pause."
            return (Reason("retrying", text, numbers),)
        case "STARTING" | "RUNNING" | "STOPPED":
            return (Reason("starting", f"The query has been starting {at}.", numbers),)


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
