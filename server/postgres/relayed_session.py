"""One session: bytes go to and fro, and messages of the client are looked at."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable

from penstock.server.client_limits import Limits
from penstock.server.postgres.asking import Asker
from penstock.server.postgres.link import Link
from penstock.server.postgres.messages import HEADER, ProtocolError, check_length, fatal, read_fields, read_names
from penstock.server.postgres.requests import Requests
from penstock.server.postgres.responses import Responses
from penstock.server.postgres.shares import TRY_SECONDS, Shares

_LOG = logging.getLogger(__name__)
_CLOSE_SECONDS = 2
_WORK = b"QPBDEF"
"""Messages that PostgreSQL works on."""
_WRONG = (b"28P01", b"28000")
_HEAD = 4096
"""Bytes of a long message that are read before it is passed on. Its names end there."""


class RelayedSession:
    """One client and the server behind it, from the first message of the session on."""

    def __init__(
        self,
        client: Link,
        server: Link,
        asker: Asker,
        limits: Limits,
        note_key: Callable[[bytes], None],
        shares: Shares,
        role: str,
        *,
        is_plain: bool,
    ) -> None:
        """`note_key` gets the key by which the session is cancelled. `is_plain`: nothing is looked at."""
        self._shares, self._role, self._address = shares, role, client.address
        self._startup_seconds = limits.startup_seconds
        self._turn: asyncio.Semaphore | None = None
        self._in_transaction = self._is_counted = False
        self._is_trying = True
        self._delay = 0.0
        self._client = client
        self._server = server
        self._longest = limits.statement_bytes
        self._note_key = note_key
        self._is_plain = is_plain
        self._ready = asyncio.Event()
        self._rest = 0
        self._responses = Responses(self._note)
        self._requests = Requests(server, self._responses, asker)

    async def run(self) -> None:
        """Relays until the server ends the session, or the client breaks the protocol. If cancelled, says good-bye."""
        if not self._shares.begin_try(self._role, self._address):
            self._server.abort()
            self._client.write(fatal("28000", "too many failed logins", f"wait {TRY_SECONDS} seconds"))
            await self._client.close(_CLOSE_SECONDS)
            return
        try:
            await self._relay()
        finally:
            if self._is_trying:
                self._shares.end_try(self._role, self._address)
            self._end_turn()
            if self._is_counted:
                self._shares.leave(self._role)

    async def _relay(self) -> None:
        last_words = b""
        too_late = asyncio.get_running_loop().call_later(self._startup_seconds, self._give_up)
        down = asyncio.create_task(self._relay_down())
        up = asyncio.create_task(self._relay_up())
        try:
            await asyncio.wait({down, up}, return_when=asyncio.FIRST_COMPLETED)
            if not down.done() and up.exception() is None:
                await asyncio.wait({down})
            last_words = _last_words(task.exception() for task in (up, down) if task.done())
        except asyncio.CancelledError:
            last_words = fatal("57P01", "terminating connection due to administrator command")
        finally:
            too_late.cancel()
            down.cancel()
            up.cancel()
            await asyncio.gather(down, up, return_exceptions=True)
            if self._responses.is_between_messages and not self._is_plain:
                self._client.write(last_words)
            self._server.abort()
            await self._client.close(_CLOSE_SECONDS)

    async def _relay_down(self) -> None:
        while data := await self._server.read():
            answer = data if self._is_plain else b"".join(self._responses.feed(data))
            if self._delay:
                await asyncio.sleep(self._delay)
            self._client.write(answer)
            await self._client.drain()

    async def _relay_up(self) -> None:
        part = b""
        while data := await self._client.read():
            if self._is_plain:
                self._server.write(data)
            else:
                part = await self._take_messages(part + data)
            await self._server.drain()
        self._server.end()

    async def _take_messages(self, data: bytes) -> bytes:
        """Passes messages on, and gives back the begin of one that is not yet whole."""
        size = len(data)
        at = min(self._rest, size)
        self._rest -= at
        start = 0
        while at + 5 <= size:
            kind, length = HEADER.unpack_from(data, at)
            check_length(kind, length)
            if not self._ready.is_set() and kind not in b"pX":
                self._server.write(data[start:at])
                start = at
                await self._ready.wait()
            if self._turn is None and kind in _WORK:
                self._server.write(data[start:at])
                start = at
                await self._take_turn()
            end = at + length + 1
            if end <= size:
                work = self._requests.take(data[at:end])
                if work is not None:
                    self._server.write(data[start:at])
                    await self._server.drain()
                    await work
                    start = end
            elif kind == ord("d") or (length > self._longest and size - at > _HEAD):
                self._requests.take_long(data[at : at + _HEAD])
                self._rest = end - size
                end = size
            else:
                break
            at = end
        self._server.write(data[start:at])
        return data[at:]

    def _note(self, kind: str, body: bytes) -> None:
        match kind:
            case "Z":
                self._note_ready(body)
            case "E":
                if read_fields(body).get("C") in _WRONG:
                    self._delay = self._shares.note_failure(self._role, self._address)
            case "K":
                self._note_key(body)
            case _:
                name, value = read_names(body)
                self._requests.note_setting(name.decode("ascii", "replace"), value.decode("ascii", "replace"))

    def _note_ready(self, body: bytes) -> None:
        self._in_transaction = body != b"I"
        if self._is_trying:
            self._is_trying = False
            self._shares.end_try(self._role, self._address)
            self._is_counted = self._shares.enter(self._role)
            if not self._is_counted:
                raise ShareError(f"role {self._role} has too many connections")
            self._ready.set()
        elif self._responses.is_settled:
            self._end_turn()

    async def _take_turn(self) -> None:
        turn = self._shares.turns(self._role).of(in_transaction=self._in_transaction)
        await turn.acquire()
        self._turn = turn

    def _end_turn(self) -> None:
        if self._turn is not None:
            self._turn.release()
            self._turn = None

    def _give_up(self) -> None:
        """Ends a session whose login takes too long."""
        if self._is_trying and not self._is_plain and not self._delay:
            self._server.abort()
            self._client.abort()


class ShareError(Exception):
    """The role has more sessions than its share."""


def _last_words(errors: Iterable[BaseException | None]) -> bytes:
    """What the client is told at the end of its session."""
    for error in errors:
        if isinstance(error, ProtocolError):
            return fatal("08P01", str(error))
        if isinstance(error, ShareError):
            return fatal("53300", str(error), "close some of them")
        if error is not None and not isinstance(error, ConnectionError):
            _LOG.error("a session failed", exc_info=error)
            return fatal("XX000", "the relay failed", "the log of penstock serve has the reason")
    return b""
