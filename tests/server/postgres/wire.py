"""A client that sends any bytes, and shows the messages that come back. It shares no code with the relay."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Iterable
from types import TracebackType
from typing import NamedTuple

from penstock.server.postgres.relay import Upstream
from tests.server.postgres.door import Door

SECONDS = 20


class Message(NamedTuple):
    """A message of the server."""

    kind: str
    body: bytes

    @property
    def fields(self) -> dict[str, str]:
        """Of an error or a notice."""
        return {chr(part[0]): part[1:].decode() for part in self.body.split(b"\0") if part}

    @property
    def short(self) -> str:
        """The kind, with the tag, the SQLSTATE or the state of the transaction."""
        match self.kind:
            case "C":
                return f"C {self.body[:-1].decode()}"
            case "E" | "N":
                return f"{self.kind} {self.fields['C']}"
            case "Z":
                return f"Z {self.body.decode()}"
            case _:
                return self.kind

    @property
    def values(self) -> list[str | None]:
        """Of a row."""
        found: list[str | None] = []
        at = 2
        for _ in range(struct.unpack_from(">h", self.body)[0]):
            (size,) = struct.unpack_from(">i", self.body, at)
            at += 4
            found.append(None if size < 0 else self.body[at : at + size].decode())
            at += max(size, 0)
        return found


def message(kind: str, *parts: bytes | str | int) -> bytes:
    """A message. Texts end with NUL, numbers take two bytes."""
    body = b"".join(map(_pack, parts))
    return kind.encode() + struct.pack(">i", len(body) + 4) + body


def _pack(part: bytes | str | int) -> bytes:
    if isinstance(part, bytes):
        return part
    return part.encode() + b"\0" if isinstance(part, str) else struct.pack(">h", part)


def query(text: str) -> bytes:
    """Query."""
    return message("Q", text)


def parse(text: str, name: str = "", types: Iterable[int] = ()) -> bytes:
    """Parse."""
    numbers = [struct.pack(">i", each) for each in types]
    return message("P", name, text, len(numbers), *numbers)


def bind(values: Iterable[str | None] = (), name: str = "", portal: str = "", formats: Iterable[int] = ()) -> bytes:
    """Bind."""
    packed = [
        struct.pack(">i", -1) if each is None else struct.pack(">i", len(each.encode())) + each.encode()
        for each in values
    ]
    forms = list(formats)
    return message("B", portal, name, len(forms), *forms, len(packed), *packed, 0)


def describe(kind: str, name: str = "") -> bytes:
    """Describe a statement (S) or a portal (P)."""
    return message("D", kind.encode(), name)


def execute(portal: str = "", rows: int = 0) -> bytes:
    """Execute."""
    return message("E", portal, struct.pack(">i", rows))


def close(kind: str, name: str = "") -> bytes:
    """Close a statement (S) or a portal (P)."""
    return message("C", kind.encode(), name)


SYNC = message("S")
FLUSH = message("H")
END = message("X")


class Wire:
    """One connection."""

    def __init__(self, where: Door | Upstream) -> None:
        if isinstance(where, Door):
            self.plug = socket.create_connection(("127.0.0.1", where.relay.port), SECONDS)
        else:
            self.plug = socket.socket(socket.AF_UNIX)
            self.plug.settimeout(SECONDS)
            self.plug.connect(f"{where.host}/.s.PGSQL.{where.port}")
        self.file = self.plug.makefile("rb")
        self.key = b""

    def encrypt(self) -> None:
        """Goes over to TLS."""
        self.send(struct.pack(">ii", 8, 80877103))
        assert self.plug.recv(1) == b"S"
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.plug = context.wrap_socket(self.plug)
        self.file = self.plug.makefile("rb")

    def __enter__(self) -> Wire:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.close()
        self.plug.close()

    def send(self, *data: bytes) -> None:
        """Sends bytes."""
        self.plug.sendall(b"".join(data))

    def start(self, user: str = "wire", **parameters: str) -> list[Message]:
        """Begins a session without a password."""
        pairs = {"user": user, "database": "postgres", **parameters}
        body = b"".join(name.encode() + b"\0" + value.encode() + b"\0" for name, value in pairs.items())
        self.send(struct.pack(">ii", len(body) + 9, 3 << 16), body, b"\0")
        found = self.until("Z", "E")
        self.key = next((each.body for each in found if each.kind == "K"), b"")
        return found

    def read(self) -> Message:
        """The next message; of kind "" at the end of the connection."""
        head = self.file.read(5)
        if len(head) < 5:
            return Message("", head)
        (length,) = struct.unpack(">i", head[1:])
        return Message(chr(head[0]), self.file.read(length - 4))

    def until(self, *kinds: str) -> list[Message]:
        """The messages up to one of these kinds, or to the end of the connection."""
        found = [self.read()]
        while found[-1].kind not in (*kinds, ""):
            found.append(self.read())
        return found

    def ask(self, *data: bytes) -> list[str]:
        """Sends bytes, and gives what comes up to ReadyForQuery, in short."""
        self.send(*data)
        return [each.short for each in self.until("Z")]


def open_wire(where: Door | Upstream) -> Wire:
    """A connection whose session has begun."""
    wire = Wire(where)
    if isinstance(where, Door) and where.tls:
        wire.encrypt()
    wire.start()
    return wire
