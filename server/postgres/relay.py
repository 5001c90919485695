"""The PostgreSQL door: a relay in front of a real PostgreSQL that takes out the statements of Penstock."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Set
from dataclasses import dataclass
from ssl import SSLContext

from penstock.server.client_limits import Limits
from penstock.server.engine_protocol import Engine
from penstock.server.postgres.asking import Asker
from penstock.server.postgres.link import Link
from penstock.server.postgres.messages import ProtocolError, Startup, fatal
from penstock.server.postgres.relayed_session import RelayedSession
from penstock.server.postgres.shares import Shares
from penstock.server.postgres.startup import Cancel, read_first

_LOG = logging.getLogger(__name__)
_CONNECT_SECONDS = 10
_CLOSE_SECONDS = 2


@dataclass(frozen=True, slots=True)
class Upstream:
    """Where the real PostgreSQL listens. The relay speaks no TLS with it: it is on the same machine or network."""

    host: str
    """A name or an address; the folder of a Unix socket if it begins with a slash."""
    port: int = 5432


class Relay:
    """Listens for clients of PostgreSQL.

    `refused_roles` cannot log in here. The superuser of an embedded server is one of them, since that server trusts all
    connections of its own machine.
    """

    def __init__(
        self,
        upstream: Upstream,
        engine: Engine,
        limits: Limits | None = None,
        tls: SSLContext | None = None,
        *,
        is_tls_required: bool = False,
        refused_roles: Set[str] = frozenset({"postgres"}),
    ) -> None:
        self._upstream = upstream
        self._engine = engine
        self._limits = limits or Limits()
        self._tls = tls
        self._is_tls_required = is_tls_required
        self._refused_roles = {role.encode() for role in refused_roles}
        self._connections: set[asyncio.Task[None]] = set()
        self._askers: dict[bytes, Asker] = {}
        self._shares = Shares(self._limits)
        self._server: asyncio.Server

    async def start(self, host: str, port: int) -> None:
        """Begins to listen. Port 0 takes a free one.

        Raises:
            OSError: the address is taken or is not of this machine.
        """
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Link(self._open), host, port, backlog=1024)

    @property
    def port(self) -> int:
        """The port that clients connect to."""
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def connections(self) -> int:
        """How many clients are connected."""
        return len(self._connections)

    async def stop(self) -> None:
        """Tells all clients that it ends (57P01), and closes their connections."""
        self._server.close()
        tasks = list(self._connections)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _open(self, link: Link) -> None:
        if len(self._connections) >= 2 * self._limits.connections:
            link.abort()  # not even a refusal: reading what it wants takes a place as well
            return
        task = asyncio.ensure_future(self._serve(link))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, client: Link) -> None:
        try:
            refusal = await self._take(client)
        except (OSError, TimeoutError):
            refusal = b""
        except ProtocolError as error:
            refusal = fatal("08P01", str(error))
        except asyncio.CancelledError:
            refusal = fatal("57P01", "terminating connection due to administrator command")
        except Exception:
            _LOG.exception("a connection failed")
            refusal = b""
        client.write(refusal)
        await client.close(_CLOSE_SECONDS)

    async def _take(self, client: Link) -> bytes:
        """Serves a connection up to its end. What is given back is why it is refused, or nothing."""
        seconds = self._limits.startup_seconds
        async with asyncio.timeout(seconds):
            first = await read_first(client, self._tls, seconds)
        if isinstance(first, Cancel):
            await self._cancel(first)
            return b""
        if refusal := self._find_refusal(client, first):
            return refusal
        try:
            server = await self._connect()
        except (OSError, TimeoutError):
            return fatal("57P03", "the database server is not available", "try again when it runs")
        await self._relay(client, server, first)
        return b""

    def _find_refusal(self, client: Link, startup: Startup) -> bytes:
        if self._is_tls_required and not client.is_encrypted:
            return fatal("28000", "this server accepts connections with TLS only", "connect with sslmode=require")
        if len(self._connections) > self._limits.connections:
            return fatal("53300", "sorry, too many clients already")
        for role in startup.values(b"user"):
            if role in self._refused_roles:
                name = role.decode(errors="replace")
                return fatal("28000", f'role "{name}" is not permitted to log in here')
        return b""

    async def _relay(self, client: Link, server: Link, startup: Startup) -> None:
        users = startup.values(b"user")
        asker = Asker(self._engine, self._limits, users[-1].decode(errors="replace") if users else "")
        keys = []

        def note_key(key: bytes) -> None:
            keys.append(key)
            self._askers[key] = asker

        is_replication = any(value not in (b"false", b"off", b"no", b"0") for value in startup.values(b"replication"))
        role = asker.author
        session = RelayedSession(
            client, server, asker, self._limits, note_key, self._shares, role, is_plain=is_replication
        )
        server.write(startup.packed)
        try:
            await session.run()
        finally:
            for key in keys:
                self._askers.pop(key, None)

    async def _cancel(self, cancel: Cancel) -> None:
        """Ends the wait of the connection with this key for the engine. If it does not wait, PostgreSQL cancels."""
        asker = self._askers.get(cancel.key)
        if asker is not None and asker.cancel():
            return
        server = await self._connect()
        server.write(cancel.packed)
        async with asyncio.timeout(_CONNECT_SECONDS):
            await server.read()
        server.abort()

    async def _connect(self) -> Link:
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(_CONNECT_SECONDS):
            if self._upstream.host.startswith("/"):
                path = f"{self._upstream.host}/.s.PGSQL.{self._upstream.port}"
                _, link = await loop.create_unix_connection(Link, path)
            else:
                _, link = await loop.create_connection(Link, self._upstream.host, self._upstream.port)
        return link
