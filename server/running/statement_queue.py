"""Statements of users on their way: planned in a process of their own, and then carried out by the engine."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from dataclasses import dataclass

import psycopg

from penstock.diagnostics import CompileError, Source
from penstock.diagnostics.codes.serving import V007, V013
from penstock.runtime import RunError
from penstock.server.engine import Refusal, StatementAnswer
from penstock.server.planning.findings import explain_ended
from penstock.server.planning.fork_client import ForkClient, Outcome
from penstock.server.planning.frames import Ended
from penstock.server.planning.statements import (
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
from penstock.server.running.store import Store, WaitingStatement

LOG = logging.getLogger("penstock.engine")
PLACES = 1000
"""Statements of one text; each has a place of its own in the order of all."""
TRIES = 8
"""How often a statement is planned when others have changed relations meanwhile."""
Apply = Callable[[PlannedStatement | Direct, WaitingStatement, int], StatementAnswer]
_LONG = 10_000
"""Characters of a refused statement that stay in the log."""


@dataclass
class OnItsWay:
    """A text that is being worked on. `version`: of the relations over which its statement is planned."""

    waiting: WaitingStatement
    version: int
    place: int = 0
    tries: int = 1


class StatementQueue:
    """Takes statements out of the log and answers them. One author has one at a time, so that others get their turn.

    `apply` carries out what is planned, in this thread.
    """

    def __init__(self, settings: EngineSettings, script: LiveScript, apply: Apply) -> None:
        self._settings, self._apply = settings, apply
        self._forks = ForkClient("statements", lambda: [Relations(script)])
        self._jobs: dict[int, OnItsWay] = {}
        self._version = 0

    @property
    def plug(self) -> socket.socket:
        """Readable when a plan is ready."""
        return self._forks.plug

    def note(self, news: Added | Removed) -> None:
        """The engine has changed what is in force."""
        self._version += 1
        self._forks.note(news)

    def forget(self) -> None:
        """Drops all that is on its way. The log says that it was interrupted."""
        self._jobs.clear()

    def close(self) -> None:
        """Ends the process that plans."""
        self._forks.close()

    def work(self, store: Store) -> None:
        """Begins with statements that wait, and goes on with those whose plans are ready."""
        for waiting in store.take([each.waiting.author for each in self._jobs.values()]):
            refusal = self._try(lambda waiting=waiting: check_submitter(store, waiting.author))  # type: ignore[misc]
            if refusal is not None:
                self._answer(store, waiting, refusal)
            else:
                self._submit(OnItsWay(waiting, self._version))
        for number, outcome in self._forks.poll():
            job = self._jobs.pop(number, None)
            if job is not None:
                self._go_on(store, job, outcome)

    def _submit(self, job: OnItsWay) -> None:
        waiting = job.waiting
        job.version = self._version
        number = waiting.number * PLACES + job.place
        work = PlanStatement(waiting.text, job.place, number, waiting.author, self._settings.max_words)
        self._jobs[self._forks.submit(waiting.author, work, self._settings.plan_seconds)] = job

    def _go_on(self, store: Store, job: OnItsWay, outcome: Outcome) -> None:
        if isinstance(outcome, Ended):
            finding = explain_ended(outcome, self._settings.plan_seconds)
            self._answer(store, job.waiting, refusals_of([finding]))
            return
        step: StatementStep | Refused = outcome.value
        if isinstance(step, Refused):
            self._answer(store, job.waiting, refusals_of(step.findings))
            return
        if isinstance(step.does, PlannedStatement) and job.version != self._version:
            self._plan_again(store, job)
            return
        answer = self._carry_out(step, job)
        if step.is_last or not isinstance(answer, StatementAnswer):
            self._answer(store, job.waiting, answer)
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

    def _carry_out(self, step: StatementStep, job: OnItsWay) -> StatementAnswer | tuple[Refusal, ...]:
        does = step.does
        if isinstance(does, StatementAnswer):
            return does
        answers: list[StatementAnswer] = []
        number = job.waiting.number * PLACES + job.place
        refusal = self._try(lambda: answers.append(self._apply(does, job.waiting, number)))
        return refusal if refusal is not None else answers[0]

    def _try(self, action: Callable[[], None]) -> tuple[Refusal, ...] | None:
        """Why an action is refused, None if it is not."""
        try:
            action()
        except (CompileError, RunError) as error:
            cause = error.__cause__
            return (refusal_of(cause),) if isinstance(cause, psycopg.Error) else refusals_of(error.diagnostics)
        except psycopg.Error as error:
            return (refusal_of(error),)
        except Exception as error:  # the other queries go on
            LOG.exception("a statement failed")
            return refusals_of([V013.at(None, reason=type(error).__name__)])
        return None

    def _answer(self, store: Store, waiting: WaitingStatement, answer: StatementAnswer | tuple[Refusal, ...]) -> None:
        text = Source("statement", waiting.text).shown
        if not isinstance(answer, StatementAnswer) and len(text) > _LONG:
            text = f"{text[:_LONG]}…"
        store.answer(waiting.number, answer, text)
