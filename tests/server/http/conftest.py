"""A door over an embedded PostgreSQL and a fake engine, in a thread of its own."""

from __future__ import annotations

import asyncio
import os
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from penstock.server.client_limits import Limits
from penstock.server.http.door import HttpDoor, HttpSettings
from penstock.server.http.security import digest_token
from tests.databases.places import start_server
from tests.server.http.fake_engine import FakeEngine

SCHEMA = Path(__file__).parent / "schema.sql"
TRUST = ssl.create_default_context()
"""Read once: it takes longer than most tests."""
TOKENS = {role: f"pst_{role}" for role in ("rita", "sam", "olga")}
TABLES = (
    *("penstock.token", "penstock.engine", "penstock.statement", "penstock.relation", "penstock.query"),
    *("penstock.lineage", "penstock.saved"),
    *("penstock.change", "penstock.listener", "public.totals", "public.views_per_minute", "public.every_type"),
    *("public.visits", "public.total", 'public."Mixed Case"'),
)


class Database:
    """The embedded PostgreSQL, as its superuser sees it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.connection = psycopg.connect(url, autocommit=True)

    def execute(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement, none of one without."""
        cursor = self.connection.execute(sql, parameters)
        return cursor.fetchall() if cursor.description else []

    def login(self, role: str) -> str:
        """The URL for another login role."""
        return self.url.replace("postgres@", f"{role}@")


class Door:
    """A door that is open."""

    def __init__(
        self, door: HttpDoor, engine: FakeEngine, database: Database, stop: Callable[[], None], scheme: str
    ) -> None:
        self.door = door
        self.stop = stop
        self.engine = engine
        self.database = database
        self.url = f"{scheme}://127.0.0.1:{door.port}"

    def client(self, role: str | None = "sam", **options: Any) -> httpx.Client:
        """A client with the token of a role."""
        headers = {} if role is None else {"Authorization": f"Bearer {TOKENS[role]}"}
        return httpx.Client(**{"base_url": self.url, "headers": headers, "timeout": 30, "verify": TRUST, **options})


@pytest.fixture(scope="session")
def database() -> Iterator[Database]:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # the server has a user of its own
        running = start_server(Path(folder) / "data")
        database = Database(running.get_uri().replace("postgres:@", "postgres@"))
        database.execute("ALTER SYSTEM SET fsync = off")
        database.execute("SELECT pg_reload_conf()")
        database.connection.execute(SCHEMA.read_text(encoding="utf-8"))
        yield database
        database.connection.close()
        running.cleanup()


@contextmanager
def serve(database: Database, limits: Limits | None = None, url: str = "", **settings: Any) -> Iterator[Door]:
    """A door in a thread, for as long as the body runs."""
    engine = FakeEngine(database.url)
    door = HttpDoor(HttpSettings(**{"database": url or database.login("door"), "port": 0, **settings}), engine, limits)
    opened: threading.Event = threading.Event()
    loops: list[asyncio.AbstractEventLoop] = []
    stopping = asyncio.Event()

    async def run() -> None:
        async with door:
            loops.append(asyncio.get_running_loop())
            opened.set()
            await stopping.wait()

    def stop() -> None:
        for loop in loops:
            loop.call_soon_threadsafe(stopping.set)

    running = ThreadPoolExecutor(1).submit(asyncio.run, run())
    try:
        while not opened.wait(0.02):
            if running.done():
                running.result()
        scheme = "https" if settings.get("certificate") else "http"
        yield Door(door, engine, database, stop, scheme)
    finally:
        if not running.done():
            stop()
        wait([running])
    running.result()


@pytest.fixture(scope="session")
def shared_door(database: Database) -> Iterator[Door]:
    with serve(database) as door:
        yield door


@pytest.fixture
def door(shared_door: Door) -> Door:
    """The door over empty tables, with a token for each role and an engine that runs."""
    database, services = shared_door.database, shared_door.door.services
    database.connection.execute("; ".join(f"DELETE FROM {table}" for table in TABLES))  # quicker than TRUNCATE
    for role, token in TOKENS.items():
        database.execute("INSERT INTO penstock.token (hash, role) VALUES (%s, %s)", digest_token(token), role)
    database.execute("INSERT INTO penstock.engine VALUES ('READY', now(), now())")
    shared_door.engine.reset()
    services.failures._failures.clear()
    return shared_door
