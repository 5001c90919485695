"""Changes of tables as they happen: one connection listens for all clients, who read the log at their own pace.

PostgreSQL logs the changes of a relation while somebody listens to it. A period of listening has a name. The identifier
of an event is the name of its period and the number of a change. So a client that comes back in the same period has
missed nothing that is still in the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, TypeGuard

import psycopg
from psycopg import AsyncConnection

from penstock.server.http.door_catalog import DoorCatalog
from penstock.server.tasks import end_task

log = logging.getLogger("penstock.http")

CHANNEL, REPLACED = "penstock_change", "penstock_replaced"
"""Tell of changes of a table, and that another table has taken its place."""
LISTEN_SECONDS = 60.0
"""For so long changes are logged after the last client has gone."""
_RENEW_SECONDS = 15.0
_PAGE = 500
_RETRY_SECONDS = 1.0
_SETTLE_SECONDS = 5.0
_SETTLE_STEP = 0.02


@dataclass(frozen=True, slots=True)
class Event:
    """What a client is sent."""

    kind: str
    """`ready`: changes follow from here on. `change`. `gap`: changes are lost, so the table has to be read again."""
    id: str
    data: dict[str, Any]


@dataclass(slots=True)
class Position:
    """How far a client has read the log."""

    period: str
    seq: int
    mark: tuple[int, str]
    """The newest number at a moment, and the transaction that was the next one to begin."""

    def event(self, kind: str, data: dict[str, Any]) -> Event:
        return Event(kind, f"{self.period}-{self.seq}", data)


class ChangeFeed:
    """The changes of all relations that clients follow."""

    def __init__(self, catalog: DoorCatalog) -> None:
        self._catalog = catalog
        self._task: asyncio.Task[None] | None = None
        self._closing = False
        self._clients: dict[str, set[asyncio.Event]] = {}
        self._periods: dict[str, str] = {}

    def open(self) -> None:
        """Begins to listen, in the running loop."""
        self._task = asyncio.create_task(self._run(), name="penstock changes")

    async def close(self) -> None:
        """Ends all streams."""
        self._closing = True
        self._wake_all()
        if self._task is not None:
            await end_task(self._task)

    def count_clients(self) -> Counter[str]:
        """How many clients follow each relation."""
        return Counter({relation: len(events) for relation, events in self._clients.items()})

    async def follow(self, digest: bytes, relation: str, last: str | None) -> AsyncIterator[Event]:
        """The changes of a relation behind the event `last`, or all changes from now on.

        A client reads the table when it has got `ready` or `gap`; then it misses no change. The stream ends when the
        token may no longer read the table, and when the server stops.
        """
        waked = asyncio.Event()
        self._clients.setdefault(relation, set()).add(waked)
        try:
            await self._renew(relation)
            position = await self._begin(relation)
            if self._is_known(last, relation):
                position.seq = int(last.rpartition("-")[2])
            else:
                yield position.event("gap" if last else "ready", {})
            allowed = time.monotonic()
            while True:
                waked.clear()
                if self._closing:
                    return
                if time.monotonic() >= allowed:
                    if not await self._catalog.may_follow(digest, relation):
                        return
                    allowed = time.monotonic() + _RENEW_SECONDS
                settled = await self._find_settled(position)
                rows = await self._catalog.list_changes(relation, position.seq, _PAGE)
                # Asked after the rows, so that none of them can be missing.
                if await self._is_lost(relation, position, settled):
                    position = await self._begin(relation)
                    yield position.event("gap", {})
                    continue
                for row in rows:
                    position.seq = row.pop("seq")
                    yield position.event("change", row)
                if len(rows) < _PAGE:
                    position.seq = max(position.seq, settled)
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(waked.wait(), _RENEW_SECONDS)
        finally:
            self._clients[relation].discard(waked)

    def _is_known(self, last: str | None, relation: str) -> TypeGuard[str]:
        """Whether an event is one of the present period."""
        period, _, seq = (last or "").rpartition("-")
        return period == self._periods[relation] and seq.isascii() and seq.isdecimal() and len(seq) < 19

    async def _begin(self, relation: str) -> Position:
        """The position behind which all is found that a read of the table does not see yet."""
        newest = await self._catalog.find_newest_change()
        # Some running transactions have changed the table before its changes were logged, or have a smaller number.
        transaction = await self._catalog.find_next_transaction()
        ends = time.monotonic() + _SETTLE_SECONDS
        while not await self._catalog.are_done(transaction) and time.monotonic() < ends:
            await asyncio.sleep(_SETTLE_STEP)
        return Position(self._periods[relation], newest, (newest, transaction))

    async def _find_settled(self, position: Position) -> int:
        """A number up to which no more changes will be committed. It keeps an idle relation ahead of the trimming."""
        settled, transaction = position.mark
        if not await self._catalog.are_done(transaction):
            return 0
        newest = await self._catalog.find_newest_change()
        position.mark = newest, await self._catalog.find_next_transaction()
        return settled

    async def _is_lost(self, relation: str, position: Position, settled: int) -> bool:
        oldest = await self._catalog.find_oldest_change()
        complete_from = settled if oldest is None else oldest - 1
        return position.period != self._periods[relation] or position.seq < complete_from

    async def _renew(self, relation: str) -> None:
        """Has the changes of a relation logged for a while. After a break this is a new period."""
        unbroken = await self._catalog.listen(relation, LISTEN_SECONDS)
        if not unbroken or relation not in self._periods:
            self._periods[relation] = secrets.token_hex(4)

    async def _run(self) -> None:
        """Listens until it is cancelled, and connects again when the connection is lost."""
        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError) as error:
                log.warning("changes cannot be followed: %s", error)
                await asyncio.sleep(_RETRY_SECONDS)

    async def _listen(self) -> None:
        async with await AsyncConnection.connect(self._catalog.url, autocommit=True) as connection:
            for channel in (CHANNEL, REPLACED):
                await connection.execute(f"LISTEN {channel}")
            self._wake_all()
            while True:
                async for notice in connection.notifies(timeout=_RENEW_SECONDS):
                    if notice.channel == REPLACED and self._clients.get(notice.payload):
                        await self._renew(notice.payload)  # a new period: all clients read the new table
                    for waked in self._clients.get(notice.payload, ()):
                        waked.set()
                for relation in [relation for relation, clients in self._clients.items() if clients]:
                    await self._renew(relation)

    def _wake_all(self) -> None:
        for clients in self._clients.values():
            for waked in clients:
                waked.set()
