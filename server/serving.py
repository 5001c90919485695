"""The server: PostgreSQL, the engine and the doors, from their start to their end."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import resource
import secrets
import shlex
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import psycopg
from psycopg import conninfo

from penstock.diagnostics import CompileError, render
from penstock.planner.plan import SecretOption
from penstock.runtime import explain_unwritable
from penstock.server.client_limits import Limits
from penstock.server.database.bootstrap import add_token, name_holders, prepare_catalog
from penstock.server.database.embedded import DATABASE, ENGINE, OWNER, SUPERUSER, EmbeddedPostgres
from penstock.server.database.statement_log import StatementLog
from penstock.server.database.warden import Warden
from penstock.server.engine_supervisor import EngineRefusedError, EngineSupervisor
from penstock.server.http.door import HttpDoor, HttpSettings
from penstock.server.postgres.relay import Relay, Upstream
from penstock.server.postgres.tls import load_context, make_certificate
from penstock.server.running.allowed import Allowed
from penstock.server.running.file_changes import show_differences
from penstock.server.running.home import Home
from penstock.server.running.settings import EngineSettings
from penstock.server.tasks import end_task

LOG = logging.getLogger("penstock.server")
LOOK_SECONDS = 2
OPEN_FILES = 16_384
STATE = "penstock-state"
"""The folder that commands take unless they are told another one."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ServerError(Exception):
    """The server cannot start. The text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What `penstock serve` was told.

    state: the folder of checkpoints, secrets, logs, and the embedded PostgreSQL. files: names and texts of scripts.
    apply: whether what has changed in them takes effect.
    database: the URL of a real PostgreSQL without a password, None for the embedded one; its password is read from the
    variable PGPASSWORD. listen: the address of the doors; any other than loopback needs TLS.
    """

    state: Path
    files: tuple[tuple[str, str], ...] = ()
    apply: bool = False
    database: str | None = None
    listen: str = "127.0.0.1"
    pg_port: int = 5433
    http_port: int = 8080
    certificate: Path | None = None
    key: Path | None = None
    master: str | None = None
    spark: dict[str, str] = field(default_factory=dict)
    allowed: Allowed = field(default_factory=Allowed)
    tail_rows: int = 1_000
    limits: Limits = field(default_factory=Limits)

    @property
    def is_public(self) -> bool:
        """Whether other machines can connect."""
        return self.listen not in LOOPBACK


@dataclass(frozen=True, slots=True)
class DatabasePlace:
    """How the processes of the server reach PostgreSQL.

    home: for the engine. door: the connection string of the doors, with a password. owner: the role of the operator.
    upstream: where the relay connects. password_file: the owner's, for psql; None with a real PostgreSQL.
    warden: it watches the sessions of users. offer_reports: makes the schema for views of users, where there is one.
    """

    home: Home
    door: str
    owner: str
    upstream: Upstream
    database: str
    password_file: Path | None
    warden: Warden
    offer_reports: Callable[[], None] = field(default=lambda: None)


async def serve(settings: ServerSettings, stopping: asyncio.Event, show: Callable[[str], None]) -> None:
    """Serves until `stopping` is set. `show` gets a line for each thing that is ready.

    Raises:
        ServerError: a port is taken, PostgreSQL cannot be reached, a file is refused, …
    """
    raise_file_limit()
    with lock_state(settings.state):
        async with AsyncExitStack() as stack:
            catalog = await stack.enter_async_context(open_database(settings))
            await asyncio.to_thread(prepare, settings, catalog)
            if settings.apply:
                await asyncio.to_thread(show_changes, settings, catalog, show)
            log = await stack.enter_async_context(
                StatementLog(catalog.door, settings.limits.engine_seconds, settings.limits.statement_bytes)
            )
            doors = await stack.enter_async_context(AsyncExitStack())
            await open_doors(settings, catalog, log, doors, show)
            engine = EngineSupervisor(
                lambda with_files: engine_settings(settings, catalog, with_files), log_file(settings)
            )
            running = asyncio.create_task(engine.run())
            announced = asyncio.create_task(announce_engine(catalog, engine, show))
            watched = asyncio.create_task(catalog.warden.run())
            waiting = asyncio.create_task(stopping.wait())
            try:
                await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
                if running.done():
                    running.result()
            except EngineRefusedError as error:
                raise ServerError(str(error)) from None
            finally:
                running.cancel()
                await asyncio.gather(doors.aclose(), asyncio.wait({running}))  # both take a few seconds
                await end_task(announced)
                await end_task(watched)
                await end_task(waiting)


def raise_file_limit() -> None:
    """Lets the process have as many open files as it may need. Each client takes two, and 1,024 is a common limit."""
    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if most == resource.RLIM_INFINITY else min(OPEN_FILES, most)
    if limit != resource.RLIM_INFINITY and limit < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


@contextmanager
def lock_state(state: Path) -> Iterator[None]:
    """Holds the state folder, so that no other server uses it.

    Raises ServerError if one does, or if it cannot be written.
    """
    try:
        state.mkdir(parents=True, exist_ok=True)
        lock = (state / "lock").open("a")
    except OSError as error:
        raise ServerError(render(explain_unwritable(state.absolute(), error))) from None
    with lock as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ServerError(f"another server uses the folder {state}; stop it, or name another --state") from None
        yield


@asynccontextmanager
async def open_database(settings: ServerSettings) -> AsyncIterator[DatabasePlace]:
    """PostgreSQL, which is started again when it ends if it is the embedded one."""
    if settings.database is not None:
        yield find_database(settings)
        return
    postgres = EmbeddedPostgres(settings.state)
    await asyncio.to_thread(postgres.start)
    watching = asyncio.create_task(watch(postgres))
    try:
        password = SecretOption("FILE", str(postgres.passwords.file(ENGINE).resolve()))
        door = postgres.login(OWNER)
        yield DatabasePlace(
            Home(postgres.url(ENGINE), password, settings.tail_rows),
            door,
            OWNER,
            Upstream(postgres.socket),
            DATABASE,
            write_password_file(settings, postgres.passwords.read(OWNER)),
            Warden(postgres.login(SUPERUSER), (ENGINE, OWNER, SUPERUSER), settings.limits, is_embedded=True),
            postgres.offer_reports,
        )
    finally:
        watching.cancel()
        await asyncio.to_thread(postgres.stop)


def find_database(settings: ServerSettings) -> DatabasePlace:
    """A PostgreSQL that others run. Raises ServerError if its address is not one."""
    assert settings.database is not None
    try:
        given = conninfo.conninfo_to_dict(settings.database)
    except psycopg.ProgrammingError as error:
        raise ServerError(f"--database: {error}") from None
    if "password" in given:
        raise ServerError("--database has a password, which others see; set the variable PGPASSWORD")
    password = SecretOption("ENV", "PGPASSWORD") if "PGPASSWORD" in os.environ else None
    door = conninfo.make_conninfo(settings.database, password=os.environ.get("PGPASSWORD"))
    upstream = Upstream(str(given.get("host", "/var/run/postgresql")), int(given.get("port") or 5432))
    user = str(given.get("user", "postgres"))
    home = Home(settings.database, password, settings.tail_rows)
    warden = Warden(door, (user,), settings.limits, is_embedded=False)
    return DatabasePlace(home, door, user, upstream, str(given.get("dbname", user)), None, warden)


async def watch(postgres: EmbeddedPostgres) -> None:
    """Starts PostgreSQL again when its process has ended."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if not postgres.is_running:
            LOG.warning("PostgreSQL has ended; starting it again")
            try:
                await asyncio.to_thread(postgres.start)
            except (OSError, RuntimeError, subprocess.SubprocessError, psycopg.Error) as error:
                LOG.warning("PostgreSQL does not start: %s", error)


def write_password_file(settings: ServerSettings, password: str) -> Path:
    """The file from which psql takes the owner's password: `passfile=…`."""
    path = settings.state / "secrets" / "pgpass"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(f"*:*:*:{OWNER}:{password}\n")
    return path


def prepare(settings: ServerSettings, catalog: DatabasePlace) -> None:
    """Makes the catalog, and the operator's token for HTTP.

    Raises ServerError if PostgreSQL does not allow it.
    """
    try:
        with engine_arguments(catalog).connect() as db:
            try:
                prepare_catalog(db, catalog.owner)
                catalog.offer_reports()
            except psycopg.errors.LockNotAvailable as error:
                raise ServerError(f"PostgreSQL: {str(error).strip()}: {name_holders(db)}") from None
            add_token(db, read_token(settings), catalog.owner, "operator")
    except psycopg.Error as error:
        raise ServerError(f"PostgreSQL: {str(error).strip()}") from None


def engine_arguments(catalog: DatabasePlace) -> EngineSettings:
    return EngineSettings(catalog.home, "", catalog.owner)


def show_changes(settings: ServerSettings, catalog: DatabasePlace, show: Callable[[str], None]) -> None:
    """Shows what has changed in the files, before anything is touched.

    Raises ServerError if a file is refused, or the change cannot be made.
    """
    told = EngineSettings.from_json(engine_settings(settings, catalog, with_files=True))
    try:
        lines = show_differences(told)
    except CompileError as error:
        raise ServerError("\n".join(render(each) for each in error.diagnostics)) from None
    except psycopg.Error as error:
        raise ServerError(f"PostgreSQL: {str(error).strip()}") from None
    show(f"apply       {', '.join(name for name, _ in settings.files)}")
    for line in lines:
        show(line)


def token_file(settings: ServerSettings) -> Path:
    return settings.state / "secrets" / "token"


def log_file(settings: ServerSettings) -> Path:
    return settings.state / "engine.log"


def read_token(settings: ServerSettings) -> str:
    """The operator's token, a new one the first time."""
    path = token_file(settings)
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"pst_{secrets.token_urlsafe(32)}")
    return path.read_text(encoding="utf-8")


def engine_settings(settings: ServerSettings, catalog: DatabasePlace, with_files: bool) -> str:
    """What the engine's process is told. Files are run once by a server, and again if that was cut short."""
    told = replace(
        engine_arguments(catalog),
        state=str(settings.state.resolve()),
        master=settings.master,
        spark=settings.spark,
        allowed=replace(
            settings.allowed, closed=(str(settings.state.resolve()),), own_database=settings.database or ""
        ),
        max_queries=settings.limits.queries,
        max_words=settings.limits.statement_words,
        plan_seconds=settings.limits.plan_seconds,
        max_changes=settings.limits.changes,
        max_statements=settings.limits.statements,
        statement_log_bytes=settings.limits.statement_log_bytes,
        files=settings.files if with_files else (),
        apply=settings.apply and with_files,
    )
    return told.to_json()


async def open_doors(
    settings: ServerSettings,
    catalog: DatabasePlace,
    log: StatementLog,
    stack: AsyncExitStack,
    show: Callable[[str], None],
) -> None:
    """Opens both doors. Raises ServerError if a port is taken."""
    certificate, key = settings.certificate, settings.key
    if settings.is_public and certificate is None:
        certificate, key = make_certificate(settings.state / "tls")
    tls: ssl.SSLContext | None = None
    if certificate is not None and key is not None:
        tls = load_context(certificate, key)
    refused = frozenset({"postgres", ENGINE}) if settings.database is None else frozenset[str]()
    relay = Relay(
        catalog.upstream, log, settings.limits, tls, is_tls_required=settings.is_public, refused_roles=refused
    )
    http = HttpSettings(catalog.door, settings.listen, settings.http_port, certificate=certificate, key=key)
    door = HttpDoor(http, log, settings.limits)
    try:
        await relay.start(settings.listen, settings.pg_port)
        stack.push_async_callback(relay.stop)
        await door.open()
        stack.push_async_callback(door.close)
    except (OSError, UnicodeError) as error:  # a name that no host can have
        reason = getattr(error, "strerror", None) or error
        raise ServerError(f"the server cannot listen on {settings.listen}: {reason}") from None
    where = f"host={settings.listen} port={relay.port} dbname={catalog.database} user={catalog.owner}"
    where += f" passfile={catalog.password_file}" if catalog.password_file else ""
    show(f'PostgreSQL  psql "{where}"')
    scheme = "http" if tls is None else "https"
    show(f"console     {scheme}://{settings.listen}:{door.port}/  (its token is in {token_file(settings)})")
    show(f"tokens      penstock token create --user NAME --role reader{_name_place(settings)}")
    show("engine      starting Spark …")


def _name_place(settings: ServerSettings) -> str:
    """The options by which `penstock token` finds this server."""
    if settings.database is not None:
        return f" --database {shlex.quote(settings.database)}"
    return "" if str(settings.state) == STATE else f" --state {shlex.quote(str(settings.state))}"


async def announce_engine(catalog: DatabasePlace, engine: EngineSupervisor, show: Callable[[str], None]) -> None:
    """Says when the engine is ready, once. The row may come from an engine that was killed."""
    while True:
        await asyncio.sleep(0.5)
        with suppress(psycopg.Error):
            async with await psycopg.AsyncConnection.connect(catalog.door) as db:
                ready = "SELECT count(*) FROM penstock.engine WHERE state = 'READY' AND process = %s"
                if await (await db.execute(ready, [engine.process])).fetchone() == (1,):
                    engine.was_ready = True
                    queries = await (await db.execute("SELECT count(*) FROM penstock.query")).fetchone()
                    assert queries is not None
                    show(f"engine      ready, {queries[0]} queries")
                    return
