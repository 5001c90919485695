"""What the server still has to answer, and its answers on their way to the client."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto

from penstock.server.postgres.messages import HEADER, pack, read_fields, without_parameters, write_fields

Fields = dict[str, bytes]


class Request(Enum):
    """What a client can send that is answered."""

    PARSE = auto()
    BIND = auto()
    CLOSE = auto()
    DESCRIBE = auto()
    EXECUTE = auto()
    SYNC = auto()
    QUERY = auto()
    FUNCTION = auto()
    COPIED = auto()
    """The end of the rows of a COPY. It has no answer of its own."""


# The messages that end an answer. ReadyForQuery ends the others.
_ENDS = {
    ord("1"): Request.PARSE,
    ord("2"): Request.BIND,
    ord("3"): Request.CLOSE,
    **dict.fromkeys(b"Tn", Request.DESCRIBE),
    **dict.fromkeys(b"CIs", Request.EXECUTE),
}


@dataclass(slots=True)
class Expected:
    """One request that was sent to the server, and how its answer is changed."""

    request: Request
    hidden: bool = False
    """The client did not send it. An error is shown all the same."""
    goes_on: bool = False
    """For a QUERY: the client sent it in one message with the next one. Not after an error."""
    hidden_parameters: int = 0
    """The hidden parameters of a statement that is described."""
    tags: list[str] = field(default_factory=list)
    """What stands in the place of the tags of the statements, one after the other."""
    edit_error: Callable[[Fields], Fields] | None = None
    """Also of its warnings."""
    rows: list[bytes] | None = None
    """Gets the rows, which the client does not see."""
    succeeded: bool = False
    """Whether its answer has come, and was no error."""


class Responses:
    """Follows the messages of the server and changes the answers to statements of Penstock.

    Rows are passed on as they come. Only the boundaries of messages are looked at.
    """

    def __init__(self, note: Callable[[str, bytes], None]) -> None:
        """`note` gets each ParameterStatus (S), BackendKeyData (K), ReadyForQuery (Z), and an error before it (E)."""
        self._note = note
        self._pending: deque[Expected] = deque()
        self._part = b""
        self._rest = 0
        self._changed = asyncio.Event()
        self._is_copying = False
        self._is_ready = False
        self._keeps_rows = False
        self.is_skipping = False
        """Whether the server ignores all messages up to the next Sync."""

    @property
    def is_between_messages(self) -> bool:
        """Whether the client has got whole messages only."""
        return self._rest == 0

    @property
    def is_settled(self) -> bool:
        """Whether the server owes no answer that would come without more messages."""
        return not self._pending or self._is_copying

    def expect(self, expected: Expected) -> Expected:
        """Notes a message that is sent to the server now."""
        if expected.request is Request.SYNC and not self._is_copying:
            self.is_skipping = False
        if self.is_skipping:
            return expected
        self._keeps_rows |= expected.rows is not None
        if not self._is_copying:
            if self._pending or expected.request is not Request.COPIED:
                self._pending.append(expected)
        elif expected.request is Request.COPIED:
            self._is_copying = False
        return expected

    async def settle(self) -> None:
        """Waits until the server has answered all that was sent, or has begun to skip messages or to read a COPY."""
        while not self.is_settled:
            self._changed.clear()
            await self._changed.wait()

    def feed(self, data: bytes) -> list[bytes]:
        """What the client gets for bytes that came from the server."""
        if self._part:
            data = self._part + data
            self._part = b""
        size = len(data)
        if self._rest >= size:
            self._rest -= size
            return [data]
        at = self._rest
        self._rest = start = 0
        out = []
        unpack = HEADER.unpack_from
        while at + 5 <= size:
            kind, length = unpack(data, at)
            end = at + length + 1
            if kind == 68 or kind == 100:  # rows (D) and rows of a COPY (d)
                if self._keeps_rows and self._pending and self._pending[0].rows is not None:
                    if end > size:
                        break
                    self._pending[0].rows.append(data[at + 5 : end])
                    out.append(data[start:at])
                    start = end
                elif end > size:
                    self._rest = end - size
                    at = size
                    break
            elif end > size:
                break
            else:
                changed = self._take(kind, data, at, end)
                if changed is not None:
                    out += [data[start:at], changed]
                    start = end
            at = end
        out.append(data[start:at] if start or at < size else data)
        self._part = data[at:]
        return out

    def _take(self, kind: int, data: bytes, start: int, end: int) -> bytes | None:
        """What the client gets in the place of a message; None if it gets it as it is."""
        if kind in b"SK":
            self._note(chr(kind), data[start + 5 : end])
        if kind == ord("Z"):
            changed = self._take_ready()
            self._note("Z", data[start + 5 : end])
            return changed
        if kind == ord("E"):
            return self._take_error(data[start + 5 : end])
        if not self._pending:
            return None
        head = self._pending[0]
        changed = b"" if head.hidden and kind in b"123C" else None
        match chr(kind):
            case "N" if head.edit_error is not None:
                changed = write_fields("N", head.edit_error(read_fields(data[start + 5 : end])))
            case "t" if head.hidden_parameters:
                changed = without_parameters(data[start + 5 : end], head.hidden_parameters)
            case "C" if head.tags:
                changed = pack("C", head.tags.pop(0).encode(), b"\0")
            case "G":
                self._begin_copy()
        if _ENDS.get(kind) is head.request:
            self._pop()
        return changed

    def _pop(self) -> Expected:
        done = self._pending.popleft()
        done.succeeded = True
        while self._pending and self._pending[0].request is Request.COPIED:
            self._pending.popleft()
        self._changed.set()
        return done

    def _take_error(self, body: bytes) -> bytes | None:
        """An error ends a Query. After other requests, the server skips all up to the next Sync."""
        self._is_copying = False
        self._changed.set()
        if not self._is_ready:
            self._note("E", body)
        if not self._pending:
            return None
        head = self._pending[0]
        if head.request not in (Request.QUERY, Request.FUNCTION):
            while self._pending and self._pending[0].request is not Request.SYNC:
                self._pending.popleft()
            self.is_skipping = not self._pending
            if self._pending:
                self._pending[0].hidden = False
        head.goes_on = False
        if head.edit_error is None:
            return None
        return write_fields("E", head.edit_error(read_fields(body)))

    def _take_ready(self) -> bytes | None:
        self._changed.set()
        if not self._is_ready:
            self._is_ready = True
            return None
        self._is_copying = False
        while self._pending:
            done = self._pop()
            if done.request in (Request.SYNC, Request.QUERY, Request.FUNCTION):
                return b"" if done.hidden or done.goes_on else None
        return None

    def _begin_copy(self) -> None:
        """The server reads the rows of a COPY. Each Sync that comes before their end is ignored."""
        kept = [self._pending.popleft()]
        while self._pending:
            each = self._pending.popleft()
            if each.request is Request.COPIED:
                break
            if each.request is not Request.SYNC:
                kept.append(each)
        else:
            self._is_copying = True
        self._pending.extendleft(reversed(kept))
        self._changed.set()
