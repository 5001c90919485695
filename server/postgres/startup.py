"""What comes before a session: encryption, cancelling, and the first message."""

from __future__ import annotations

from dataclasses import dataclass
from ssl import SSLContext

from penstock.server.postgres.link import Link
from penstock.server.postgres.messages import (
    CANCEL_REQUEST,
    GSS_REQUEST,
    MAX_STARTUP,
    SSL_REQUEST,
    STARTUP_HEADER,
    ProtocolError,
    Startup,
    read_startup,
)

_ENCRYPTED = b"S"
_NOT_ENCRYPTED = b"N"


@dataclass(frozen=True, slots=True)
class Cancel:
    """A client wants the statement of another connection to end."""

    key: bytes
    """As the server gave it to that connection."""

    @property
    def packed(self) -> bytes:
        """The message as it is sent."""
        return STARTUP_HEADER.pack(8 + len(self.key), CANCEL_REQUEST) + self.key


async def read_first(link: Link, tls: SSLContext | None, seconds: float) -> Startup | Cancel:
    """The first message that is not about encryption. If the client asks for TLS, it is spoken from then on.

    Raises:
        ProtocolError: the client sends something else.
        OSError: the connection ends, or TLS cannot be agreed upon in these seconds.
    """
    asked: set[int] = set()
    while True:
        length, code = STARTUP_HEADER.unpack(await _read(link, STARTUP_HEADER.size))
        if not STARTUP_HEADER.size <= length <= MAX_STARTUP:
            raise ProtocolError("invalid length of startup packet")
        body = await _read(link, length - STARTUP_HEADER.size)
        if code == CANCEL_REQUEST:
            return Cancel(body)
        if code not in (SSL_REQUEST, GSS_REQUEST):
            return read_startup(code, body)
        if code in asked or link.is_encrypted:
            raise ProtocolError("a client asks for encryption once")
        asked.add(code)
        if link.unread:
            # Somebody between the client and the relay could have put them there.
            raise ProtocolError("received unencrypted data after a request for encryption")
        if code == SSL_REQUEST and tls is not None:
            link.write(_ENCRYPTED)
            await link.encrypt(tls, seconds)
        else:
            link.write(_NOT_ENCRYPTED)


async def _read(link: Link, size: int) -> bytes:
    data = await link.read_exactly(size)
    if len(data) < size:
        raise ConnectionResetError
    return data
