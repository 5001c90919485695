"""Messages of PostgreSQL's protocol, versions 3.0 and 3.2, as bytes. No input and output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from struct import Struct, error

SSL_REQUEST = 80877103
GSS_REQUEST = 80877104
CANCEL_REQUEST = 80877102
VERSION_3 = 3

MAX_STARTUP = 10_000
"""Bytes of a message before the session, as in PostgreSQL."""
MAX_SMALL = 10_000
MAX_PASSWORD = 65_535
MAX_LARGE = (1 << 30) - 1

MAX_PARAMETERS = 65_000
"""The parameters of a statement with answers of the engine. They are parameters, too, and PostgreSQL allows 65,535."""

JSONB = 3802
TEXT = 25
_NAME_BYTES = 63
_LARGE_KINDS = b"QPBFd"
_SMALL_KINDS = b"XDECSHcf"

_INT16 = Struct(">h")
_INT32 = Struct(">i")
_UINT16 = Struct(">H")
HEADER = Struct(">BI")
"""The kind of a message, and its length with the four bytes of the length."""
STARTUP_HEADER = Struct(">II")
"""The length of a message before the session, and its code."""


class ProtocolError(Exception):
    """A client breaks the protocol. PostgreSQL would end the session, and so does the relay."""


@dataclass(frozen=True, slots=True)
class Startup:
    """The first message of a session."""

    version: int
    parameters: tuple[tuple[bytes, bytes], ...]

    def values(self, name: bytes) -> list[bytes]:
        """All values of a parameter. PostgreSQL takes the last one."""
        return [value for key, value in self.parameters if key == name]

    @property
    def packed(self) -> bytes:
        """The message as it is sent."""
        pairs = b"".join(key + b"\0" + value + b"\0" for key, value in self.parameters)
        return STARTUP_HEADER.pack(9 + len(pairs), self.version) + pairs + b"\0"


@dataclass(frozen=True, slots=True)
class Parse:
    """A statement to be prepared."""

    name: bytes
    text: bytes
    types: tuple[int, ...]
    """The types of its parameters, 0 where the server finds out."""

    @property
    def packed(self) -> bytes:
        """The message as it is sent."""
        types = b"".join(_INT32.pack(_signed(each)) for each in self.types)
        return pack("P", self.name, b"\0", self.text, b"\0", _UINT16.pack(len(self.types)), types)


@dataclass(frozen=True, slots=True)
class Bind:
    """A prepared statement gets its parameters and becomes a portal."""

    portal: bytes
    statement: bytes
    formats: tuple[int, ...]
    """The formats of the values: 0 is text and 1 binary.

    A single format is for all values. Without formats, all values are texts.
    """
    values: tuple[bytes | None, ...]
    result_formats: tuple[int, ...]

    def with_texts(self, texts: Sequence[bytes | None]) -> Bind:
        """The same with more values behind the others. They are texts."""
        formats = self.formats
        if formats:
            formats = formats if len(formats) > 1 else formats * len(self.values)
            formats = (*formats, *[0] * len(texts))
        return replace(self, formats=formats, values=(*self.values, *texts))

    @property
    def packed(self) -> bytes:
        """The message as it is sent."""
        values = (b"\xff\xff\xff\xff" if each is None else _INT32.pack(len(each)) + each for each in self.values)
        return pack(
            "B",
            *(self.portal, b"\0", self.statement, b"\0"),
            *(_UINT16.pack(len(self.formats)), *map(_INT16.pack, self.formats)),
            *(_UINT16.pack(len(self.values)), *values),
            *(_UINT16.pack(len(self.result_formats)), *map(_INT16.pack, self.result_formats)),
        )


class _Reader:
    """Takes the parts of a message one after the other.

    Raises:
        ProtocolError: the message ends before a part does.
    """

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._at = 0

    def text(self) -> bytes:
        end = self._body.find(b"\0", self._at)
        if end < 0:
            raise ProtocolError("invalid string in message")
        found = self._body[self._at : end]
        self._at = end + 1
        return found

    def number(self, form: Struct) -> int:
        try:
            (found,) = form.unpack_from(self._body, self._at)
        except error:
            raise ProtocolError("insufficient data left in message") from None
        self._at += form.size
        return int(found)

    def numbers(self, form: Struct) -> tuple[int, ...]:
        return tuple(self.number(form) for _ in range(self.number(_UINT16)))

    def value(self) -> bytes | None:
        size = self.number(_INT32)
        if size < 0:
            return None
        if size > len(self._body) - self._at:
            raise ProtocolError("insufficient data left in message")
        self._at += size
        return self._body[self._at - size : self._at]

    def end(self) -> None:
        if self._at != len(self._body):
            raise ProtocolError("invalid message format")


def pack(kind: str, *parts: bytes) -> bytes:
    """A message of a kind."""
    body = b"".join(parts)
    return HEADER.pack(ord(kind), len(body) + 4) + body


SYNC = pack("S")
FLUSH = pack("H")


def query(text: bytes) -> bytes:
    """A message that runs the statements of a text."""
    return pack("Q", text, b"\0")


def execute(portal: bytes) -> bytes:
    """A message that runs a portal to its end."""
    return pack("E", portal, b"\0\0\0\0\0")


def close(kind: str, name: bytes) -> bytes:
    """A message that closes a portal (P) or a prepared statement (S); there need not be one."""
    return pack("C", kind.encode(), name, b"\0")


def read_text(body: bytes) -> bytes:
    """The text of a query message.

    Raises:
        ProtocolError: there is something behind the text.
    """
    reader = _Reader(body)
    text = reader.text()
    reader.end()
    return text


def read_parse(body: bytes) -> Parse:
    """Raises ProtocolError."""
    reader = _Reader(body)
    found = Parse(reader.text(), reader.text(), tuple(each & 0xFFFFFFFF for each in reader.numbers(_INT32)))
    reader.end()
    return found


def read_bind(body: bytes) -> Bind:
    """Raises ProtocolError."""
    reader = _Reader(body)
    portal, statement = reader.text(), reader.text()
    formats = reader.numbers(_INT16)
    values = tuple(reader.value() for _ in range(reader.number(_UINT16)))
    found = Bind(portal, statement, formats, values, reader.numbers(_INT16))
    reader.end()
    return found


def read_names(body: bytes) -> tuple[bytes, bytes]:
    """The two names with which a message begins. In a Bind, they are the names of the portal and of the statement."""
    first = body.find(b"\0")
    second = body.find(b"\0", first + 1)
    return body[:first], body[first + 1 : second]


def read_name(body: bytes) -> bytes:
    """The name with which a message begins. The message may still be incomplete."""
    return body.partition(b"\0")[0]


def statement_key(name: bytes) -> bytes:
    """What PostgreSQL knows a prepared statement by: names that agree in 63 bytes are the same to it."""
    return name[:_NAME_BYTES]


def read_startup(code: int, body: bytes) -> Startup:
    """The first message of a session without its header.

    Raises:
        ProtocolError: it is not of version 3, or its parameters are not as PostgreSQL wants them.
    """
    if code >> 16 != VERSION_3:
        raise ProtocolError(f"unsupported frontend protocol {code >> 16}.{code & 0xFFFF}")
    *parts, empty = body.split(b"\0") if body.endswith(b"\0") else [body]
    if empty or not parts or parts[-1] or len(parts) % 2 == 0 or b"" in parts[:-1:2]:
        raise ProtocolError("invalid startup packet layout: expected terminator as last byte")
    return Startup(code, tuple(zip(parts[:-1:2], parts[1::2], strict=True)))


def check_length(kind: int, length: int) -> None:
    """Whether a client may send a message of this kind and length.

    Raises:
        ProtocolError: it may not.
    """
    if kind == ord("p"):
        most = MAX_PASSWORD
    elif kind in _LARGE_KINDS:
        most = MAX_LARGE
    elif kind in _SMALL_KINDS:
        most = MAX_SMALL
    else:
        raise ProtocolError(f"invalid frontend message type {kind}")
    if not 4 <= length <= most:
        raise ProtocolError("invalid message length")


def read_fields(body: bytes) -> dict[str, bytes]:
    """The fields of an error or a notice by their letter."""
    return {chr(part[0]): part[1:] for part in body.split(b"\0") if part}


def write_fields(kind: str, fields: dict[str, bytes]) -> bytes:
    """An error (`E`) or a notice (`N`). Fields that are empty are left out."""
    return pack(kind, *(name.encode() + value + b"\0" for name, value in fields.items() if value), b"\0")


def fatal(sqlstate: str, message: str, hint: str = "") -> bytes:
    """The error that ends a session."""
    fields = {"S": "FATAL", "V": "FATAL", "C": sqlstate, "M": message, "H": hint}
    return write_fields("E", {name: value.encode() for name, value in fields.items()})


def without_parameters(body: bytes, count: int) -> bytes:
    """A description of parameters without the last ones."""
    (size,) = _UINT16.unpack_from(body)
    left = size - count
    return pack("t", _UINT16.pack(left), body[2 : 2 + 4 * left])


def _signed(number: int) -> int:
    return number - (1 << 32) if number >= 1 << 31 else number
