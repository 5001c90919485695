"""Checks of texts while they are typed, and scripts cut into statements, without the engine."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.diagnostics import Diagnostic, Label, Source, Span
from penstock.server.client_limits import Limits
from penstock.server.engine_protocol import Refusal
from penstock.server.http.problems import Problem
from penstock.server.http.read_statements import ReadStatements
from penstock.server.planning.checks import Check, Checked, Definition, Finding, Format, show_finding
from penstock.server.planning.findings import explain_ended
from penstock.server.planning.fork_client import AsyncForks
from penstock.server.planning.job_messages import Done, Ended
from penstock.server.planning.script_parts import ScriptPart, Split

_WAITING = 8
"""Checks and scripts of one role that may wait at once."""
_READS = 20
"""The most statements of one text that PostgreSQL is asked about."""
_UNKNOWN_RELATION = "42P01"
"""A statement of the text may make it."""
_GUESS = re.compile(r'did you mean (.+)\?|Perhaps you meant to reference the column "(.+)"\.')
"""Hints that have the name to be written instead. The second one is PostgreSQL's."""


class Checker:
    """Asks a process that knows the relations. Each check has a process of its own, which is ended in time."""

    def __init__(self, limits: Limits, reads: ReadStatements) -> None:
        self._limits, self._reads = limits, reads
        self._forks = AsyncForks("checks")
        self._waiting: Counter[str] = Counter()

    def open(self) -> None:
        """Starts the process, in the running loop."""
        self._forks.open()

    async def check(self, role: str, text: str, definitions: list[Definition]) -> list[Finding]:
        """What is wrong with a script, and what it is warned about. One that takes too long is a finding (V018).

        PostgreSQL says what is wrong with its own statements. Raises Problem: the role has too many checks that wait.
        """
        with self._count(role):
            work = Check(text, self._limits.statement_words)
            outcome = await self._forks.run(role, work, self._limits.check_seconds, definitions)
            if isinstance(outcome, Ended):
                return [self._show_ended(outcome)]
            checked: Checked = outcome.value
            found = list(checked.findings)
            for part in checked.reads[:_READS]:
                refusal = await self._reads.check(role, part.text)
                if refusal is not None and (checked.is_alone or refusal.sqlstate != _UNKNOWN_RELATION):
                    found.append(_show_refusal(text, part, refusal))
            return found

    async def format(self, role: str, text: str) -> str | list[Finding]:
        """The script in the canonical layout, or what keeps it from being laid out. Raises as `check` does."""
        with self._count(role):
            outcome = await self._forks.run(role, Format(text), self._limits.check_seconds)
        if isinstance(outcome, Ended):
            return [self._show_ended(outcome)]
        result: str | list[Finding] = outcome.value
        return result

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

    def _show_ended(self, ended: Ended) -> Finding:
        return show_finding(explain_ended(ended, self._limits.check_seconds))

    @contextmanager
    def _count(self, role: str) -> Iterator[None]:
        if self._waiting[role] >= _WAITING:
            raise Problem(429, f"{_WAITING} checks of {role} wait already", headers={"Retry-After": "5"})
        self._waiting[role] += 1
        try:
            yield
        finally:
            self._waiting[role] -= 1


def _show_refusal(text: str, part: ScriptPart, refusal: Refusal) -> Finding:
    """What PostgreSQL says about a statement of a text. It has an SQLSTATE and no code of Penstock."""
    start, end = part.start, part.start + len(part.text)
    if refusal.position is not None:
        start = min(part.start + refusal.position - 1, len(text))
        end = _find_end(text, start)
    span = Span(Source("<sql>", text), start, end)
    found = Diagnostic("", refusal.message, (Label(span, ""),), refusal.detail)
    guess = _GUESS.fullmatch(refusal.hint or "")
    if guess is None:
        return show_finding(found.with_hint(refusal.hint))
    name = guess[1] or (guess[2] if "." in span.text else guess[2].rpartition(".")[2])
    return show_finding(found.with_guess(name))


def _find_end(text: str, start: int) -> int:
    """The end of the word that begins at a place."""
    found = re.compile(r'"(?:[^"]|"")*"|[\w.$]+|.', re.DOTALL).match(text, start)
    return found.end() if found else start
