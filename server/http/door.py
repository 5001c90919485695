"""The HTTP door: the application behind uvicorn, in the loop that runs already."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from penstock.server.client_limits import Limits
from penstock.server.engine_protocol import Engine
from penstock.server.http.app import create_app
from penstock.server.http.change_feed import ChangeFeed
from penstock.server.http.checking import Checker
from penstock.server.http.door_catalog import DoorCatalog
from penstock.server.http.metrics import DoorMetrics
from penstock.server.http.read_statements import ReadStatements
from penstock.server.http.role_sessions import RoleSessions
from penstock.server.http.services import Services
from penstock.server.http.shares import RESERVE, Connections, RequestShares

_STOP_SECONDS = 2


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Where the door listens, and the PostgreSQL behind it."""

    database: str
    """A URL whose login may `SET ROLE` to the role of each token."""
    host: str = "127.0.0.1"
    port: int = 8080
    """0 for any that is free."""
    hosts: tuple[str, ...] = ()
    """The names under which clients call the server, besides localhost."""
    certificate: Path | None = None
    """The certificate for TLS, in PEM. Without one the door speaks plain HTTP."""
    key: Path | None = None
    proxies: tuple[str, ...] = ()
    """Addresses of proxies that say by `X-Forwarded-…` who calls, and whether over TLS."""
    database_connections: int = 10


class HttpDoor:
    """Serves HTTP while it is open. Use it in an `async with` statement."""

    def __init__(
        self, settings: HttpSettings, engine: Engine, limits: Limits | None = None, metrics: DoorMetrics | None = None
    ) -> None:
        self._settings = settings
        limits = limits or Limits()
        catalog = DoorCatalog(
            settings.database,
            connections=settings.database_connections,
            select_seconds=limits.select_seconds,
            role_reads=limits.role_reads,
        )
        # Clients that follow changes keep no login waiting.
        self._feed_catalog = DoorCatalog(settings.database)
        self._connections = Connections(limits.connections + RESERVE)
        metrics = metrics or DoorMetrics()
        reads = ReadStatements(RoleSessions(settings.database, limits), catalog, limits)
        changes, checker = ChangeFeed(self._feed_catalog), Checker(limits, reads)
        self.services = Services(engine, catalog, changes, limits, metrics, checker, RequestShares(limits), reads)
        self.port = settings.port
        self.app = create_app(self.services, settings.hosts)
        self._server = QuietServer(self._configure(limits))
        metrics.connections.set_function(lambda: len(self._connections))
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Listens.

        Raises:
            OSError: the port is taken, or a file of TLS cannot be read.
        """
        family = socket.AF_INET6 if ":" in self._settings.host else socket.AF_INET
        listening = socket.create_server((self._settings.host, self._settings.port), family=family, backlog=1024)
        # Connections inherit it. Without it the body of a response waits for the client to confirm the head.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._server.config.load()
            await self.services.catalog.open()
            await self._feed_catalog.open()
        except BaseException:
            listening.close()
            raise
        self.port = listening.getsockname()[1]
        self.services.changes.open()
        self.services.checker.open()
        self._task = asyncio.create_task(self._server.serve(sockets=[listening]), name="penstock http")

    async def close(self) -> None:
        """Ends streams, waits a few seconds for requests that run, and stops."""
        await self.services.changes.close()
        self._server.should_exit = True
        if self._task is not None:
            await self._task
        await self.services.checker.close()
        await self._feed_catalog.close()
        await self.services.catalog.close()

    async def __aenter__(self) -> HttpDoor:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _configure(self, limits: Limits) -> uvicorn.Config:
        class Protocol(PatientProtocol):
            request_seconds = limits.startup_seconds
            opened = self._connections

        settings = self._settings
        return uvicorn.Config(
            self.app,
            http=Protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(settings.proxies),
            forwarded_allow_ips=list(settings.proxies),
            timeout_keep_alive=30,
            timeout_graceful_shutdown=_STOP_SECONDS,
            ssl_certfile=settings.certificate,
            ssl_keyfile=settings.key,
        )


class QuietServer(uvicorn.Server):
    """A server that leaves signals to the process around it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Captures none."""
        yield


class PatientProtocol(H11Protocol):
    """Closes connections on which the head of a request does not arrive in time."""

    request_seconds: float
    opened: Connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to wait for the first request."""
        super().connection_made(transport)
        self.opened.add(self)
        self._deadline: asyncio.TimerHandle | None = self._begin_waiting()

    def data_received(self, data: bytes) -> None:
        """Waits on while a part of a head is there."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._deadline = self._deadline or self._begin_waiting()
        else:
            self._end_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits no more."""
        self._end_waiting()
        self.opened.remove(self)
        super().connection_lost(exc)

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def end(self) -> None:
        """Closes the connection now."""
        self.transport.abort()

    def _begin_waiting(self) -> asyncio.TimerHandle:
        return self.loop.call_later(self.request_seconds, self.transport.close)

    def _end_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
