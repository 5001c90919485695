"""The door as the tests open it: an embedded PostgreSQL, a relay in a thread of its own, an engine that is a script."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from ssl import SSLContext
from typing import Any, TypeVar

import psycopg
import uvloop
from psycopg.conninfo import make_conninfo

from penstock.server.client_limits import Limits
from penstock.server.engine_protocol import QUERY_COLUMNS, Refusal, RefusedError, Statement, StatementAnswer
from penstock.server.postgres.relay import Relay, Upstream
from tests.databases.places import start_server

T = TypeVar("T")
FUNCTIONS = Path(__file__).parents[3] / "server" / "postgres" / "functions.sql"
HBA = """
local all postgres trust
local all wire trust
local all all scram-sha-256
local replication all scram-sha-256
"""
SETUP = """
CREATE ROLE penstock_reader;
CREATE ROLE alice LOGIN PASSWORD 'wonder land' IN ROLE penstock_reader;
CREATE ROLE wire LOGIN;
CREATE ROLE bob LOGIN PASSWORD 'builder';
CREATE TABLE revenue (product text PRIMARY KEY, total numeric(18, 2), orders bigint);
INSERT INTO revenue VALUES ('apple', 12.50, 3), ('pear', 7.25, 2), ('Äpfel', NULL, 1);
GRANT SELECT ON revenue TO PUBLIC;
CREATE SCHEMA alice AUTHORIZATION alice;
"""
PASSWORDS = {"alice": "wonder land", "bob": "builder"}


@contextmanager
def open_database() -> Iterator[Upstream]:
    """A PostgreSQL that asks for passwords, with the functions of the door."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # the server has a user of its own
        running = start_server(Path(folder) / "data")
        upstream = Upstream(running.get_postmaster_info().socket_dir.as_posix())
        hba = Path(folder) / "data" / "pg_hba.conf"
        hba.write_text(HBA, encoding="utf-8")
        with connect_directly(upstream) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
            connection.execute(FUNCTIONS.read_text(encoding="utf-8"))
            connection.execute(SETUP)
        yield upstream
        running.cleanup()


def connect_directly(upstream: Upstream, user: str = "postgres", **options: Any) -> psycopg.Connection[Any]:
    """A connection around the relay."""
    password = PASSWORDS.get(user)
    return psycopg.connect(
        host=upstream.host, user=user, password=password, dbname="postgres", autocommit=True, **options
    )


Reply = StatementAnswer | Exception | Callable[[Statement], Coroutine[Any, Any, StatementAnswer]]


@dataclass
class ScriptedEngine:
    """Answers each statement as it was told to, by the statement's first words."""

    replies: dict[str, Reply] = field(default_factory=dict)
    asked: list[Statement] = field(default_factory=list)
    withdrawn: list[Statement] = field(default_factory=list)
    names: frozenset[str] = frozenset({"revenue", "clicks"})

    async def run(self, statement: Statement) -> StatementAnswer:
        """Part of the protocol Engine."""
        self.asked.append(statement)
        text = " ".join(statement.text.split()).upper()
        begin = max((each for each in self.replies if text.startswith(each.upper())), key=len, default=None)
        reply = self.replies[begin] if begin is not None else unknown(statement)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, StatementAnswer):
            return reply
        try:
            return await reply(statement)
        except asyncio.CancelledError:
            self.withdrawn.append(statement)
            raise

    def relations(self) -> frozenset[str]:
        """Part of the protocol Engine."""
        return self.names

    @property
    def texts(self) -> list[str]:
        """The texts of all statements."""
        return [statement.text for statement in self.asked]


STREAMS = StatementAnswer("SHOW", ("name", "columns"), (("clicks", "at TIMESTAMP, page STRING"), ("Wörter", None)))
PLAN = StatementAnswer("EXPLAIN", ("plan",), (("KStream",), ("  Scan clicks",)))


def unknown(statement: Statement) -> RefusedError:
    """The refusal of a statement that nobody foresaw."""
    return refuse("S001", "42601", f"expected a statement: {statement.text}", position=1)


def refuse(code: str, sqlstate: str, message: str, **more: Any) -> RefusedError:
    """One refusal."""
    return RefusedError((Refusal(code, sqlstate, message, **more),))


async def wait_forever(_: Statement) -> StatementAnswer:
    """The reply of an engine that is too busy."""
    await asyncio.sleep(3600)
    raise AssertionError


def standard_replies() -> dict[str, Reply]:
    """What most tests need."""
    return {
        "SHOW STREAMS": STREAMS,
        "SHOW QUERIES": StatementAnswer("SHOW", QUERY_COLUMNS),
        "EXPLAIN": PLAN,
        "CREATE STREAM": StatementAnswer("CREATE STREAM"),
        "DROP STREAM": StatementAnswer("DROP STREAM"),
        "CREATE TABLE": StatementAnswer("CREATE TABLE", notices=("the state of this query grows",)),
        "CREATE STREAM bad": refuse(
            "K012", "42P17", "a watermark is missing", detail="of clicks", hint="WATERMARK FOR", position=8
        ),
        "PAUSE QUERY slow": wait_forever,
        "PAUSE QUERY broken": ZeroDivisionError(),
    }


@dataclass
class Door:
    """A relay that runs."""

    relay: Relay
    engine: ScriptedEngine
    upstream: Upstream
    loop: asyncio.AbstractEventLoop
    tls: bool

    def options(self, user: str = "alice") -> dict[str, Any]:
        """What a driver needs to connect."""
        return {"host": "127.0.0.1", "port": self.relay.port, "user": user, "password": PASSWORDS.get(user, "x")}

    def dsn(self, user: str = "alice", **more: str) -> str:
        """The same for libpq."""
        mode = "require" if self.tls else "disable"
        return make_conninfo(**{"dbname": "postgres", "sslmode": mode, **self.options(user), **more})

    def connect(self, user: str = "alice", **more: Any) -> psycopg.Connection[Any]:
        """A connection that commits each statement unless it is told otherwise."""
        return psycopg.connect(self.dsn(user), **{"autocommit": True, **more})

    def await_(self, work: Coroutine[Any, Any, T]) -> T:
        """Does something in the thread of the relay."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)


@contextmanager
def open_door(
    upstream: Upstream,
    limits: Limits | None = None,
    tls: SSLContext | None = None,
    new_loop: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop,
    **options: Any,
) -> Iterator[Door]:
    """A relay in a thread of its own."""
    loop = new_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    engine = ScriptedEngine(standard_replies())
    relay = Relay(upstream, engine, limits or replace(Limits(), engine_seconds=20), tls, **options)
    door = Door(relay, engine, upstream, loop, tls is not None)
    try:
        door.await_(relay.start("127.0.0.1", 0))
        yield door
        door.await_(relay.stop())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
