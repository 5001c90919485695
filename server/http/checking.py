"""Checks of texts while they are typed, and scripts cut into statements, without the engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.diagnostics import Report, report
from penstock.server.client_limits import Limits
from penstock.server.http.problems import Problem
from penstock.server.planning.checks import Check, Definition, ScriptPart, Split
from penstock.server.planning.findings import explain_ended
from penstock.server.planning.fork_client import AsyncForks
from penstock.server.planning.job_messages import Done, Ended

_WAITING = 8
"""Checks and scripts of one role that may wait at once."""


class Checker:
    """Asks a process that knows the relations. Each check has a process of its own, which is ended in time."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._forks = AsyncForks("checks")
        self._waiting: Counter[str] = Counter()

    def open(self) -> None:
        """Starts the process, in the running loop."""
        self._forks.open()

    async def check(self, role: str, text: str, definitions: list[Definition]) -> list[Report]:
        """What is wrong with a script, and what it is warned about. One that takes too long is a finding (V018).

        Raises Problem: the role has too many checks that wait.
        """
        seconds = self._limits.check_seconds
        with self._count(role):
            outcome = await self._forks.run(role, Check(text), seconds, definitions)
        if isinstance(outcome, Ended):
            return [report(explain_ended(outcome, seconds))]
        found: list[Report] = outcome.value
        return found

    async def split(self, role: str, text: str) -> list[ScriptPart]:
        """The statements of a script.

        Raises Problem: that takes too long, or the role has too many scripts that wait.
        """
        seconds = self._limits.plan_seconds
        with self._count(role):
            outcome = await self._forks.run(role, Split(text, self._limits.statement_words), seconds)
        if isinstance(outcome, Done):
            parts: list[ScriptPart] = outcome.value
            return parts
        finding = explain_ended(outcome, seconds)
        raise Problem(413, finding.message, code=finding.code, sqlstate="54000", hint=finding.hint)

    async def close(self) -> None:
        """Ends the process and all checks."""
        await self._forks.close()

    @contextmanager
    def _count(self, role: str) -> Iterator[None]:
        if self._waiting[role] >= _WAITING:
            raise Problem(429, f"{_WAITING} checks of {role} wait already", headers={"Retry-After": "5"})
        self._waiting[role] += 1
        try:
            yield
        finally:
            self._waiting[role] -= 1
