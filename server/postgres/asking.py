"""A session asks the engine, one statement after the other."""

from __future__ import annotations

import asyncio
import logging

from penstock.server.client_limits import Limits
from penstock.server.engine_protocol import Engine, Refusal, RefusedError, Statement, StatementAnswer

Outcome = StatementAnswer | RefusedError

_LOG = logging.getLogger(__name__)
_WITHDRAW_SECONDS = 5
"""How long a statement that is withdrawn has to say that it took effect all the same."""


class Asker:
    """Asks the engine for one session, as its login role."""

    def __init__(self, engine: Engine, limits: Limits, author: str) -> None:
        self._engine = engine
        self._limits = limits
        self.author = author
        self._running: asyncio.Task[StatementAnswer] | None = None

    def relations(self) -> frozenset[str]:
        """The names of all relations of Penstock, in lower case."""
        return self._engine.relations()

    async def ask(self, text: str) -> Outcome:
        """What the engine says to a statement, or why it says nothing."""
        if len(text.encode()) > self._limits.statement_bytes:
            return refusal("54000", f"a statement has more than {self._limits.statement_bytes:,} bytes")
        statement = Statement(text, self.author, "postgres")
        running = self._running = asyncio.ensure_future(self._engine.run(statement))
        seconds = self._limits.engine_seconds
        try:
            done, _ = await asyncio.wait({running}, timeout=seconds)
            if not done:
                running.cancel()
                await asyncio.wait({running}, timeout=_WITHDRAW_SECONDS)
            elif running.cancelled():
                return refusal("57014", "canceling statement due to user request")
        finally:
            self._running = None
            running.cancel()
        if not running.done() or running.cancelled():
            hint = "the statement was withdrawn; SHOW QUERIES tells what runs, and /readyz whether the engine is there"
            return refusal("57P03", f"the engine has not answered for {seconds:g} seconds", hint)
        return _outcome_of(running)

    def cancel(self) -> bool:
        """Withdraws the statement that waits for the engine; False if none does."""
        return self._running is not None and self._running.cancel()


def refusal(sqlstate: str, message: str, hint: str | None = None) -> RefusedError:
    """A refusal by the relay itself."""
    return RefusedError((Refusal("", sqlstate, message, hint=hint),))


def _outcome_of(task: asyncio.Task[StatementAnswer]) -> Outcome:
    error = task.exception()
    if error is None:
        return task.result()
    if isinstance(error, RefusedError):
        return error
    _LOG.error("a statement failed in the engine", exc_info=error)
    return refusal("XX000", "the engine failed", "the log of penstock serve has the reason")
