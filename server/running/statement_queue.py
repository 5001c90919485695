"""Statements of users on their way: planned in a process of their own, and then carried out by the engine."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue

import psycopg

from penstock.diagnostics import CompileError, Source
from penstock.diagnostics.codes.server import V007, V013
from penstock.runtime import RunError
from penstock.server.engine_protocol import Refusal, StatementAnswer
from penstock.server.planning.findings import explain_ended
from penstock.server.planning.fork_client import ForkClient, Outcome
from penstock.server.planning.job_messages import Ended
from penstock.server.planning.statement_planner import (
    Added,
    Direct,
    PlannedStatement,
    PlanStatement,
    Refused,
    Relations,
    Removed,
    StatementStep,
)
from penstock.server.running.live_script import LiveScript
from penstock.server.running.rights import check_submitter
from penstock.server.running.settings import EngineSettings
from penstock.server.running.sqlstates import refusal_of, refusals_of
from penstock.server.running.steps import Steps
from penstock.server.running.store import Store, WaitingStatement

LOG = logging.getLogger("penstock.engine")
LOOK_SECONDS = 0.25
PLACES = 1000
"""Statements of one text; each has a place of its own in the order of all."""
TRIES = 8
"""How often a statement is planned when others have changed relations meanwhile."""
Apply = Callable[[PlannedStatement | Direct, WaitingStatement, int], Steps[StatementAnswer]]
_LONG = 10_000
"""Characters of a refused statement that stay in the log."""


@dataclass
class OnItsWay:
    """A text that is being worked on. `version`: the version of the relations over which its statement is planned."""

    waiting: WaitingStatement
    version: int
    place: int = 0
    tries: int = 1

    @property
    def number(self) -> int:
        """The place of its statement in the order of all."""
        return self.waiting.number * PLACES + self.place


@dataclass(frozen=True, slots=True)
class Ready:
    """A statement that the engine has to carry out."""

    job: OnItsWay
    does: PlannedStatement | Direct
    is_last: bool


Carried = StatementAnswer | tuple[Refusal, ...] | None
"""What became of a statement that was ready. None: it has to be planned again."""


class StatementQueue:
    """Takes statements out of the log and answers them, in a thread of its own: the engine may be busy meanwhile.

    One author has one statement at a time, so that others get their turn. What needs the engine is handed to it by
    `next`. It says by `finish` what became of it, and by `note` what it has changed.
    """

    def __init__(self, settings: EngineSettings, script: LiveScript) -> None:
        self._settings = settings
        self._forks = ForkClient("statements", lambda: [Relations(script.copy())])
        self._jobs: dict[int, OnItsWay] = {}
        self._carried: set[str] = set()
        self._version = self._told = 0
        self._ready: SimpleQueue[Ready | None] = SimpleQueue()
        self._inbox: SimpleQueue[Added | Removed | tuple[Ready, Carried]] = SimpleQueue()
        self._wake, self._woken = socket.socketpair()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="penstock statements", daemon=True)

    def start(self) -> None:
        """Begins to take statements."""
        self._thread.start()

    def next(self, seconds: float) -> Ready | None:
        """A statement that the engine has to carry out; None without one within so many seconds, or after `wake`."""
        try:
            return self._ready.get(timeout=seconds)
        except Empty:
            return None

    def wake(self) -> None:
        """Lets `next` end."""
        self._ready.put(None)

    def carry_out(self, ready: Ready, apply: Apply) -> Steps[None]:
        """Has a statement carried out, in the thread of the engine, unless its plan is out of date."""
        carried: Carried = None
        if not isinstance(ready.does, PlannedStatement) or ready.job.version == self._version:
            try:
                carried = yield from apply(ready.does, ready.job.waiting, ready.job.number)
            except Exception as error:
                carried = refuse(error)
        self._inbox.put((ready, carried))
        self._wake.send(b"x")

    def note(self, news: Added | Removed) -> None:
        """The engine has changed what is in force."""
        self._version += 1
        self._inbox.put(news)

    def close(self) -> None:
        """Ends the thread, and the process that plans."""
        self._stopping.set()
        self._wake.send(b"x")
        if self._thread.ident is not None:
            self._thread.join(5)
        self._forks.close()

    def _run(self) -> None:
        """Goes on with a new connection when one is lost."""
        while not self._stopping.is_set():
            try:
                with self._settings.connect() as db:
                    store = Store(db)
                    store.listen()
                    while not self._stopping.is_set():
                        self._work(store)
                        store.wait(LOOK_SECONDS, self._forks.plug, self._woken)
            except psycopg.Error as error:
                LOG.warning("statements cannot be taken: %s", str(error).strip())
            except Exception:  # no statement would be answered any more
                LOG.exception("the queue of statements failed")
            self._stopping.wait(LOOK_SECONDS)

    def _work(self, store: Store) -> None:
        """Begins with waiting statements, and goes on with statements whose plans are ready."""
        self._read_inbox(store)
        busy = [*(each.waiting.author for each in self._jobs.values()), *self._carried]
        for waiting in store.take(busy):
            refusal = _try(lambda waiting=waiting: check_submitter(store, waiting.author))  # type: ignore[misc]
            if refusal is not None:
                self._answer(store, waiting, refusal)
            else:
                self._submit(OnItsWay(waiting, self._told))
        for number, outcome in self._forks.poll():
            job = self._jobs.pop(number, None)
            if job is not None:
                self._go_on(store, job, outcome)

    def _read_inbox(self, store: Store) -> None:
        with suppress(BlockingIOError):
            self._woken.recv(1 << 10, socket.MSG_DONTWAIT)
        with suppress(Empty):
            while True:
                message = self._inbox.get_nowait()
                if isinstance(message, tuple):
                    self._end(store, *message)
                else:
                    self._told += 1
                    self._forks.note(message)

    def _end(self, store: Store, ready: Ready, carried: Carried) -> None:
        job = ready.job
        self._carried.discard(job.waiting.author)
        if carried is None:
            self._plan_again(store, job)
        elif ready.is_last or not isinstance(carried, StatementAnswer):
            self._answer(store, job.waiting, carried)
        else:
            job.place, job.tries = job.place + 1, 1
            self._submit(job)

    def _submit(self, job: OnItsWay) -> None:
        waiting = job.waiting
        job.version = self._told
        work = PlanStatement(waiting.text, job.place, job.number, waiting.author, self._settings.max_words)
        self._jobs[self._forks.submit(waiting.author, work, self._settings.plan_seconds)] = job

    def _go_on(self, store: Store, job: OnItsWay, outcome: Outcome) -> None:
        if isinstance(outcome, Ended):
            finding = explain_ended(outcome, self._settings.plan_seconds)
            self._answer(store, job.waiting, refusals_of([finding]))
            return
        step: StatementStep | Refused = outcome.value
        if isinstance(step, Refused):
            self._answer(store, job.waiting, refusals_of(step.findings))
        elif not isinstance(step.does, StatementAnswer):
            self._carried.add(job.waiting.author)
            self._ready.put(Ready(job, step.does, step.is_last))
        elif step.is_last:
            self._answer(store, job.waiting, step.does)
        else:
            job.place, job.tries = job.place + 1, 1
            self._submit(job)

    def _plan_again(self, store: Store, job: OnItsWay) -> None:
        if job.tries < TRIES:
            job.tries += 1
            self._submit(job)
            return
        finding = V007.at(None).because("Others have changed relations while the statement was planned.")
        self._answer(store, job.waiting, refusals_of([finding.with_hint("send the statement again")]))

    def _answer(self, store: Store, waiting: WaitingStatement, answer: StatementAnswer | tuple[Refusal, ...]) -> None:
        text = Source("statement", waiting.text).shown
        if not isinstance(answer, StatementAnswer) and len(text) > _LONG:
            text = f"{text[:_LONG]}…"
        store.answer(waiting.number, answer, text)


def _try(action: Callable[[], None]) -> tuple[Refusal, ...] | None:
    """Why an action is refused, None if it is not."""
    try:
        action()
    except Exception as error:
        return refuse(error)
    return None


def refuse(error: Exception) -> tuple[Refusal, ...]:
    """What a statement that has ended with an error is answered. An error of our own is logged; other queries go on."""
    match error:
        case CompileError() | RunError():
            cause = error.__cause__
            return (refusal_of(cause),) if isinstance(cause, psycopg.Error) else refusals_of(error.diagnostics)
        case psycopg.Error():
            return (refusal_of(error),)
        case _:
            LOG.error("a statement failed", exc_info=error)
            return refusals_of([V013.at(None, reason=type(error).__name__)])
