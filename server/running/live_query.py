"""The queries of one definition as they run: started, paused, begun again after failures."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from penstock.diagnostics import Diagnostic
from penstock.runtime import QueryHandle, RunError, RuntimeSession, Status
from penstock.server.running.live_script import LiveDefinition

TABLE_COUNTS = ("name", "puts", "updates", "deletes", "rejected", "batches", "retries")
QueryState = Literal["STARTING", "RUNNING", "PAUSED", "RETRYING", "HELD", "STOPPED"]


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """A query that fails more than `attempts` times within `window` seconds is held.

    `pauses`: the seconds before each new start.
    """

    attempts: int = 3
    window: float = 600
    pauses: Sequence[float] = (1, 5, 25)


class LiveQuery:
    """The queries of one definition. To be used by one thread.

    `open_session` makes a connection to Spark whose checkpoints belong to this definition.
    """

    def __init__(
        self,
        definition: LiveDefinition,
        open_session: Callable[[], RuntimeSession],
        start: Callable[[RuntimeSession], list[QueryHandle]],
        policy: RestartPolicy,
    ) -> None:
        self.definition = definition
        self.state: QueryState = "STARTING"
        self.fault: Diagnostic | None = None
        self.restarts = 0
        self._open_session, self._start, self._policy = open_session, start, policy
        self._session: RuntimeSession | None = None
        self._handles: list[QueryHandle] = []
        self._failures: deque[float] = deque(maxlen=policy.attempts)
        self._next_start = 0.0

    def start(self) -> None:
        """Starts the queries.

        Raises:
            RunError: they cannot be started. They are stopped then.
        """
        self.state = "STARTING"
        self._session = self._open_session()
        try:
            self._handles = self._start(self._session)
        except BaseException:
            self.stop()
            raise
        self.state, self.fault = "RUNNING", None

    def stop(self) -> None:
        """Stops the queries at the end of their micro-batches."""
        self.state = "STOPPED"
        session, self._session, self._handles = self._session, None, []
        if session is not None:
            with suppress(RunError):  # of rejected rows that could not be written: they are written at the next start
                session.close()

    def pause(self) -> None:
        """Stops the queries until `resume`."""
        self.stop()
        self.state = "PAUSED"

    def resume(self) -> None:
        """Starts queries that are paused or held. Raises RunError."""
        self._failures.clear()
        self.start()

    def fail(self, error: RunError) -> None:
        """Notes a failure, and plans the next start."""
        self.stop()
        self.fault = error.diagnostics[0]
        now = time.monotonic()
        recent = [each for each in self._failures if each > now - self._policy.window]
        if len(recent) >= self._policy.attempts:
            self.state = "HELD"
            return
        self._failures.append(now)
        self.state = "RETRYING"
        self._next_start = now + self._policy.pauses[min(len(recent), len(self._policy.pauses) - 1)]

    def look(self) -> None:
        """Notices failures, and starts queries again whose pause is over."""
        try:
            if self.state == "RETRYING" and self._session is None:
                if time.monotonic() >= self._next_start:
                    self.restarts += 1
                    self.start()
                return
            for handle in self._handles:
                if not handle.status().running:
                    handle.await_done(0)
            if self.state in ("RUNNING", "RETRYING"):
                waiting = any(status.retrying for status in self._statuses())
                self.state = "RETRYING" if waiting else "RUNNING"
        except RunError as error:
            self.fail(error)

    def status(self) -> dict[str, Any] | None:
        """What the doors show of the queries, None while they do not run."""
        statuses = self._statuses()
        return status_json(statuses) if statuses else None

    def _statuses(self) -> list[Status]:
        return [handle.status() for handle in self._handles]


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
        "reasons": [],
    }


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
