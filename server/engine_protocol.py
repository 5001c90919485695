"""What doors ask of the engine, as a protocol. Doors do not import the engine itself, which lies in `running/`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

QUERY_COLUMNS = ("name", "state", "writes to", "author", "batches", "rows out", "fault")
"""What SHOW QUERIES answers. Doors describe it before they ask."""
REASON_COLUMNS = ("cause", "reason", "numbers")
"""What EXPLAIN WHY answers."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement as a user sent it."""

    text: str
    author: str
    """The role of PostgreSQL that sent it. The statement has its rights."""
    door: str
    """`postgres`, `http` or `file`."""


@dataclass(frozen=True, slots=True)
class StatementAnswer:
    """What a statement answers. All values are texts, or None for NULL."""

    tag: str
    """The command as PostgreSQL would tag it: `CREATE TABLE`, `SHOW`, …"""
    columns: tuple[str, ...] = ()
    """Empty for statements that answer with no rows."""
    rows: tuple[tuple[str | None, ...], ...] = ()
    notices: tuple[str, ...] = ()
    """Warnings, each as a sentence."""
    types: tuple[str, ...] = ()
    """The types of the columns as PostgreSQL names them, such as `numeric(10,2)`. Empty if all are texts."""
    queries: tuple[str, ...] = ()
    """The names of the queries that the statement has started."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a statement was not run. There are no stack traces in it, and no secrets."""

    code: str
    """Penstock's code, such as K012."""
    sqlstate: str
    message: str
    detail: str | None = None
    hint: str | None = None
    position: int | None = None
    """The character of the statement's text that the error is about, counted from 1."""


class RefusedError(Exception):
    """A statement was refused, for one reason or more."""

    def __init__(self, refusals: tuple[Refusal, ...]) -> None:
        assert refusals, "a refusal has a reason"
        super().__init__("; ".join(f"{each.code}: {each.message}" for each in refusals))
        self.refusals = refusals


class Engine(Protocol):
    """The engine as a door sees it."""

    async def run(self, statement: Statement) -> StatementAnswer:
        """Runs a statement. If the task is cancelled, the statement is withdrawn unless it has begun to take effect.

        Raises:
            RefusedError: the statement is refused; the engine is away (SQLSTATE 57P03) or does not answer in time.
        """
        ...

    def relations(self) -> frozenset[str]:
        """The names of all streams, tables and views of Penstock, in lower case, as known in this process."""
        ...
