"""Sessions of PostgreSQL in which a statement of a user runs with the rights of the user's role, and with no others.

SET ROLE in a session of the server is not enough: a statement may call set_config('role', …), and then another query
as text. So each session logs in as a role of its own. That role is a member of the user's role and of nothing else.
Whatever a statement sets, it gets no more than the user has over PostgreSQL's own door.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import LiteralString

import psycopg
from psycopg import AsyncConnection, conninfo, sql

from penstock.diagnostics.codes.server import V015
from penstock.server.client_limits import Limits
from penstock.server.http.problems import Problem

PREFIX = "penstock_session_"
"""What the names of these roles begin with. A user cannot have one: `penstock token create` refuses it."""
_WAIT_SECONDS = 10
_LIMITED = f"SET statement_timeout = '{_WAIT_SECONDS}s'"
_ROLE = "SELECT oid, rolsuper FROM pg_catalog.pg_roles WHERE rolname = %s AND rolcanlogin"
_MAKES_ROLES = "SELECT rolcreaterole OR rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user"
_MEMBER = """
SELECT rolname FROM pg_catalog.pg_auth_members JOIN pg_catalog.pg_roles AS granted ON granted.oid = roleid
WHERE member = (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = %s)
"""
_ORPHANS = """
SELECT rolname FROM pg_catalog.pg_roles AS made
WHERE rolname ~ %(named)s AND NOT EXISTS (
  SELECT 1 FROM pg_catalog.pg_roles AS used WHERE used.oid::text = substr(made.rolname, length(%(prefix)s) + 1))
"""
_SETTINGS = """
SELECT set_config('role', %s, false), set_config('timezone', 'UTC', false), set_config('datestyle', 'ISO', false),
       set_config('bytea_output', 'hex', false), set_config('statement_timeout', %s, false),
       set_config('default_transaction_read_only', 'on', false)
"""


class RoleSessions:
    """Opens a session for each statement, and closes it behind it. `url`: where the door logs in."""

    def __init__(self, url: str, limits: Limits) -> None:
        self._url = url
        self._limits = limits
        self._password = secrets.token_urlsafe(32)
        self._logins: dict[str, str] = {}
        self._making = asyncio.Lock()
        self._all = asyncio.Semaphore(limits.selects)
        self._turns: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(limits.role_selects))

    @asynccontextmanager
    async def open_session(self, role: str) -> AsyncIterator[AsyncConnection]:
        """A session of a role that only reads. It commits each statement, and each has a limit of time.

        Raises:
            Problem: the role cannot be used, or its other statements take too long.
            psycopg.Error: PostgreSQL does not answer.
        """
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                await self._turns[role].acquire()
        except TimeoutError:
            raise _refuse_turn(role) from None
        try:
            try:
                async with asyncio.timeout(_WAIT_SECONDS):
                    await self._all.acquire()
            except TimeoutError:
                raise _refuse_turn(role) from None
            try:
                connection = await self._connect(role)
                try:
                    yield connection
                finally:
                    await connection.close()
            finally:
                self._all.release()
        finally:
            self._turns[role].release()

    async def _connect(self, role: str) -> AsyncConnection:
        known = self._logins.get(role)
        if known is not None:
            # Another server may have given the role a password of its own. Or the user's role was made anew.
            with suppress(psycopg.OperationalError, psycopg.errors.InsufficientPrivilege):
                return await self._log_in(known, role)
        return await self._log_in(await self._make_login(role), role)

    async def _log_in(self, login: str, role: str) -> AsyncConnection:
        connection = await AsyncConnection.connect(
            login, autocommit=True, application_name="penstock sql", connect_timeout=_WAIT_SECONDS
        )
        try:
            await self._find_role(connection, role)
            timeout = str(round(self._limits.select_seconds * 1000))
            await connection.execute(_SETTINGS, (role, timeout))
        except BaseException:
            await connection.close()
            raise
        return connection

    async def _make_login(self, role: str) -> str:
        """The connection string of the role that stands for a role. Makes it if there is none."""
        async with (
            self._making,
            await AsyncConnection.connect(self._url, autocommit=True, connect_timeout=_WAIT_SECONDS) as connection,
        ):
            await connection.execute(_LIMITED)
            if connection.info.user == role:
                login = self._url  # the operator's own
                await self._find_role(connection, role)
            else:
                login = await self._make_role(connection, role)
        self._logins[role] = login
        return login

    async def _find_role(self, connection: AsyncConnection, role: str) -> int:
        found = await (await connection.execute(_ROLE, (role,))).fetchone()
        if found is None:
            raise Problem(403, f"role {role} may not log in", sqlstate="42501")
        oid, is_superuser = found
        if is_superuser:
            hint = "make a token of another user: penstock token create --user NAME --role owner"
            raise Problem(
                403, f"{role} is a superuser, whose statements are not run over HTTP", sqlstate="42501", hint=hint
            )
        return int(oid)

    async def _make_role(self, connection: AsyncConnection, role: str) -> str:
        name = f"{PREFIX}{await self._find_role(connection, role)}"
        verifier = connection.pgconn.encrypt_password(self._password.encode(), name.encode(), b"scram-sha-256").decode()
        if await (await connection.execute(_MAKES_ROLES)).fetchone() != (True,):
            raise _refuse_role(role, "ALTER ROLE {} CREATEROLE", connection.info.user)
        await self._drop_orphans(connection)
        made, own, given = sql.Identifier(name), sql.Identifier(role), sql.Literal(verifier)
        try:
            async with connection.transaction():
                there = await (
                    await connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (name,))
                ).fetchone()
                verb = sql.SQL("ALTER" if there else "CREATE")
                await connection.execute(sql.SQL("{} ROLE {} LOGIN NOINHERIT PASSWORD {}").format(verb, made, given))
                await connection.execute(sql.SQL("GRANT {} TO {}").format(own, made))
                granted = [row[0] for row in await (await connection.execute(_MEMBER, (name,))).fetchall()]
        except psycopg.errors.InsufficientPrivilege:
            raise _refuse_role(role, "GRANT {} TO {} WITH ADMIN OPTION", role, connection.info.user) from None
        if granted != [role]:
            raise Problem(403, f"{name} has other roles than {role}", sqlstate="42501", hint=f"DROP ROLE {name}")
        return conninfo.make_conninfo(self._url, user=name, password=self._password)

    async def _drop_orphans(self, connection: AsyncConnection) -> None:
        """Drops roles that stand for roles which have been dropped. A role of another server may have to stay."""
        named = {"prefix": PREFIX, "named": f"^{PREFIX}[0-9]+$"}
        for (orphan,) in await (await connection.execute(_ORPHANS, named)).fetchall():
            stays = (psycopg.errors.DependentObjectsStillExist, psycopg.errors.InsufficientPrivilege)
            with suppress(*stays, psycopg.errors.UndefinedObject):
                await connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(orphan)))


def _refuse_turn(role: str) -> Problem:
    message = f"other statements of {role} are not done"
    return Problem(503, message, sqlstate="53300", headers={"Retry-After": "5"})


def _refuse_role(role: str, mends: LiteralString, *names: str) -> Problem:
    """Why no statement is run as this role. `mends`: what its owner may do, with places for names."""
    text = sql.SQL(mends).format(*map(sql.Identifier, names))
    found = V015.at(None, role=role)
    return Problem(403, found.message, code=found.code, sqlstate="42501", hint=text.as_string())
