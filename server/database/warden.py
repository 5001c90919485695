"""Sessions of users that take too much of PostgreSQL, and what becomes of them.

A user may set every limit of its own session to zero. So the server looks, and ends what holds up or fills up.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg

from penstock.server.client_limits import Limits

LOG = logging.getLogger("penstock.server")
LOOK_SECONDS = 1.0
PATIENCE_SECONDS = 3
"""How long a user may hold up a session of the server."""
FULL = 0.1
"""The part of the queue of notices that may be in use. Who listens and does not read keeps it from being emptied."""
NICE = 10
"""How much less of the processors the sessions of users get than the server, where there are too few."""

_SESSIONS = """
SELECT pid, usename AS role, extract(epoch FROM clock_timestamp() - xact_start)::float AS seconds,
       wait_event = 'ClientWrite' AS is_stuck
FROM pg_catalog.pg_stat_activity
WHERE backend_type = 'client backend' AND datname = current_database() AND usename <> ALL (%(own)s)
  AND NOT pg_has_role(usesysid, 'penstock_owner', 'MEMBER')
"""
_BLOCKERS = """
SELECT DISTINCT holder.pid
FROM pg_catalog.pg_stat_activity AS waiting, unnest(pg_blocking_pids(waiting.pid)) AS holder (pid)
WHERE waiting.wait_event_type = 'Lock' AND waiting.usename = ANY (%(own)s)
  AND clock_timestamp() - waiting.query_start > make_interval(secs => %(patience)s)
"""
_FILES = """
SELECT substring(name FROM '^pgsql_tmp([0-9]+)')::int AS pid, sum(size)::bigint AS bytes FROM pg_ls_tmpdir() GROUP BY 1
"""
_QUEUE = "SELECT pg_notification_queue_usage() AS used"


@dataclass(frozen=True, slots=True)
class UserSession:
    """A session of a user who is no owner. `seconds`: since its transaction began, None outside of one."""

    pid: int
    role: str
    seconds: float | None
    is_stuck: bool | None
    """Whether it waits for its client to read."""


@dataclass(slots=True)
class Warden:
    """Looks at the sessions once a second. `own`: the roles of the server itself.

    `is_embedded`: PostgreSQL runs on this machine for this server alone.
    """

    conninfo: str
    own: tuple[str, ...]
    limits: Limits
    is_embedded: bool
    _slowed: set[int] = field(default_factory=set)
    _told: set[str] = field(default_factory=set)

    async def run(self) -> None:
        """Looks until it is cancelled. A PostgreSQL that is away is asked again."""
        while True:
            with suppress(psycopg.OperationalError):
                async with await psycopg.AsyncConnection.connect(
                    self.conninfo, autocommit=True, application_name="penstock warden"
                ) as db:
                    await db.execute("SET statement_timeout = '10s'")
                    while True:
                        await self.look(db)
                        await asyncio.sleep(LOOK_SECONDS)
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self, db: psycopg.AsyncConnection[Any]) -> None:
        """Ends the sessions that take too much."""
        own = {"own": list(self.own), "patience": PATIENCE_SECONDS}
        sessions = {row[0]: UserSession(*row) for row in await self._ask(db, _SESSIONS, own)}
        self._slow_down(sessions)
        blockers = {pid for (pid,) in await self._ask(db, _BLOCKERS, own)}
        files = dict(await self._ask(db, _FILES, own))
        used = [each for (each,) in await self._ask(db, _QUEUE, own)]
        for pid, reason in self.judge(sessions, blockers, files, used[0] if used else 0.0):
            LOG.warning("a session of %s was ended: %s", sessions[pid].role, reason)
            await self._ask(db, "SELECT pg_terminate_backend(%(pid)s)", {"pid": pid})

    def judge(
        self, sessions: dict[int, UserSession], blockers: set[int], files: dict[int, int], used: float
    ) -> Iterator[tuple[int, str]]:
        """The sessions to be ended, each with the reason. `files`: bytes by session, `used`: a part of the queue."""
        limits = self.limits
        taken: dict[str, int] = {}
        ended: set[int] = set()
        for pid, bytes_ in sorted(files.items(), key=lambda each: each[1]):
            if pid in sessions:
                role = sessions[pid].role
                taken[role] = taken.get(role, 0) + bytes_
                if taken[role] > limits.temporary_bytes:
                    ended.add(pid)
                    yield pid, f"temporary files of its role have more than {limits.temporary_bytes:,} bytes"
        for pid, each in sessions.items():
            if pid in ended:
                continue
            if pid in blockers:
                yield pid, f"it held up the server for {PATIENCE_SECONDS} seconds"
            elif each.seconds is not None and each.seconds > limits.transaction_seconds:
                yield pid, f"its transaction took more than {limits.transaction_seconds:g} seconds"
            elif used > FULL and (each.is_stuck or (each.seconds or 0) > PATIENCE_SECONDS):
                yield pid, "the queue of notices fills up"

    async def _ask(self, db: psycopg.AsyncConnection[Any], text: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
        """The rows of a query; none where the login may not ask it, which is told once."""
        try:
            return await (await db.execute(text, values)).fetchall()
        except psycopg.errors.InsufficientPrivilege as error:
            if text not in self._told:
                self._told.add(text)
                LOG.warning("sessions of users are not limited as they could be: %s", error)
            return []

    def _slow_down(self, sessions: dict[int, UserSession]) -> None:
        """Lets the processes of the server go first."""
        if not self.is_embedded:
            return
        self._slowed &= sessions.keys()
        for pid in sessions.keys() - self._slowed:
            self._slowed.add(pid)
            with suppress(OSError):  # it has ended, or its user is another one
                os.setpriority(os.PRIO_PROCESS, pid, NICE)
