"""One connection as bytes, with back-pressure in both directions."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from ssl import SSLContext
from typing import cast

HIGH = 1 << 18
"""Bytes that wait to be read, or to be sent, before the other end has to wait."""


class Link(asyncio.Protocol):
    """Bytes that arrive wait until they are read; no more than `HIGH` of them, and a chunk.

    `opened` is called with the link as soon as there is a connection.
    """

    def __init__(self, opened: Callable[[Link], object] | None = None) -> None:
        self._opened = opened
        self._chunks: list[bytes] = []
        self._size = 0
        self._paused = False
        self._ended = False
        self._arrived: asyncio.Future[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._lost = asyncio.Event()
        self._transport: asyncio.Transport
        self.is_encrypted = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Part of asyncio.Protocol."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(HIGH)
        plug = transport.get_extra_info("socket")
        if plug is not None and plug.family != socket.AF_UNIX:
            plug.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if self._opened is not None:
            self._opened(self)

    def data_received(self, data: bytes) -> None:
        """Part of asyncio.Protocol."""
        self._chunks.append(data)
        self._size += len(data)
        if self._size > HIGH and not self._paused:
            self._paused = True
            self._transport.pause_reading()
        self._wake_reader()

    def eof_received(self) -> bool:
        """Part of asyncio.Protocol. The other end may still read, unless the connection is encrypted."""
        self._ended = True
        self._wake_reader()
        return not self.is_encrypted

    def connection_lost(self, error: Exception | None) -> None:
        """Part of asyncio.Protocol."""
        self._ended = True
        self._lost.set()
        self._wake_reader()
        self._writable.set()

    def pause_writing(self) -> None:
        """Part of asyncio.Protocol."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Part of asyncio.Protocol."""
        self._writable.set()

    @property
    def address(self) -> str:
        """Where the other end is; empty of a socket of this machine."""
        peer = self._transport.get_extra_info("peername")
        return str(peer[0]) if isinstance(peer, tuple) else ""

    @property
    def unread(self) -> int:
        """How many bytes have arrived and are not read."""
        return self._size

    async def read(self) -> bytes:
        """All bytes that have arrived, at least one; none at the end."""
        while not self._chunks and not self._ended:
            await self._wait()
        data = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
        self._keep(b"")
        return data

    async def read_exactly(self, size: int) -> bytes:
        """So many bytes; fewer at the end."""
        while self._size < size and not self._ended:
            await self._wait()
        data = b"".join(self._chunks)
        self._keep(data[size:])
        return data[:size]

    def write(self, data: bytes) -> None:
        """Sends bytes, now or as soon as the other end takes them."""
        if not self._transport.is_closing():
            self._transport.write(data)

    async def drain(self) -> None:
        """Waits until the other end has taken enough of what was written.

        Raises:
            ConnectionResetError: the connection is lost.
        """
        if not self._writable.is_set():
            await self._writable.wait()
        if self._lost.is_set():
            raise ConnectionResetError

    def end(self) -> None:
        """Says that nothing more will be written."""
        if self._transport.can_write_eof() and not self._transport.is_closing():
            self._transport.write_eof()

    async def encrypt(self, context: SSLContext, seconds: float) -> None:
        """Goes over to TLS as the server.

        Raises:
            OSError: the client breaks off, speaks no TLS that is accepted, or takes more than these seconds.
        """
        loop = asyncio.get_running_loop()
        made = await loop.start_tls(
            self._transport,
            self,
            context,
            server_side=True,
            ssl_handshake_timeout=seconds,
            ssl_shutdown_timeout=seconds,
        )
        if made is None:
            raise ConnectionResetError
        self._transport = made
        self._transport.set_write_buffer_limits(HIGH)
        self.is_encrypted = True

    async def close(self, seconds: float) -> None:
        """Ends the connection after what was written is sent, at the latest after these seconds."""
        self._transport.close()
        try:
            await asyncio.wait_for(self._lost.wait(), seconds)
        except TimeoutError:
            self._transport.abort()

    def abort(self) -> None:
        """Ends the connection now."""
        self._transport.abort()

    async def _wait(self) -> None:
        self._arrived = asyncio.get_running_loop().create_future()
        await self._arrived

    def _wake_reader(self) -> None:
        if self._arrived is not None and not self._arrived.done():
            self._arrived.set_result(None)

    def _keep(self, data: bytes) -> None:
        self._chunks = [data] if data else []
        self._size = len(data)
        if self._paused and self._size <= HIGH and not self._ended:
            self._paused = False
            self._transport.resume_reading()
