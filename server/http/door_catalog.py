"""All SQL of this door over the schema `penstock`, and the connections to PostgreSQL.

The login of the pool may `SET ROLE` to the role of each token, read the schema `penstock` and write
`penstock.listener`. What a client asks for is read as its own role. The log of changes is trimmed from its oldest end,
whatever the relation. Changes of one relation are committed in the order of their numbers.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from penstock.diagnostics.codes.server import V015
from penstock.server.http.problems import Problem

Row = dict[str, Any]
_OWN_CONNECTIONS = 4
_WAIT_SECONDS = 10

_CALLER = """
SELECT token.role, token.label, pg_has_role(token.role, 'penstock_submitter', 'MEMBER') AS submits,
       pg_has_role(token.role, 'penstock_owner', 'MEMBER') AS owns
FROM penstock.token
JOIN pg_catalog.pg_roles ON rolname = token.role
WHERE token.hash = %s AND rolcanlogin AND coalesce(rolvaliduntil > now(), true)
"""
_QUERIES = """
SELECT name, relation, definition, author, state, code, message, restarts, status, since, updated
FROM penstock.query ORDER BY name
"""
_QUERY = """
SELECT name, relation, definition, author, state, code, message, restarts, plan, status, since, updated
FROM penstock.query WHERE name = %s
"""
_RELATIONS = """
SELECT name, shown, kind, relation.definition, author, columns, version, created
FROM penstock.relation LEFT JOIN penstock.lineage ON lineage.relation = name ORDER BY number, name
"""
_LINEAGE = "SELECT relation, query, is_declared, connector, reads, writes FROM penstock.lineage ORDER BY number"
_DEFINITIONS = """
SELECT name, version, definition
FROM penstock.relation LEFT JOIN penstock.lineage ON lineage.relation = name ORDER BY number, name
"""
"""In the order in which they were made: later ones read earlier ones. Definitions of one swap have one time."""
_STATEMENTS = """
SELECT id, text, author, door, state, submitted, started, finished, errors
FROM penstock.statements WHERE id < %s ORDER BY id DESC LIMIT %s
"""
_ENGINE = "SELECT state FROM penstock.engine WHERE seen > now() - make_interval(secs => %s)"
_MAY_FOLLOW = """
SELECT 1 FROM penstock.token JOIN pg_catalog.pg_roles ON rolname = token.role AND rolcanlogin
WHERE token.hash = %s AND has_table_privilege(token.role, to_regclass(format('public.%%I', %s::text)), 'SELECT')
"""
_LISTEN = """
WITH before AS (SELECT until > now() AS live FROM penstock.listener WHERE relation = %(relation)s),
     written AS (
       INSERT INTO penstock.listener (relation, until) VALUES (%(relation)s, now() + make_interval(secs => %(seconds)s))
       ON CONFLICT (relation) DO UPDATE SET until = excluded.until)
SELECT coalesce((SELECT live FROM before), false) AS live
"""
_NEWEST = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('penstock.change', 'seq')), 0) AS seq"
_NEXT_TRANSACTION = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS id"
_ARE_DONE = "SELECT pg_snapshot_xmin(pg_current_snapshot()) >= %s::xid8 AS done"
_CHANGES = """
SELECT seq, batch, op, key, row, at FROM penstock.change WHERE relation = %s AND seq > %s ORDER BY seq LIMIT %s
"""
_TYPES = """
SELECT format_type(type, nullif(modifier, -1)) AS name
FROM unnest(%s::oid[], %s::int[]) WITH ORDINALITY AS found (type, modifier, place) ORDER BY place
"""
_SAVED = "SELECT name, owner, changed FROM penstock.saved ORDER BY name"
_SAVED_ONE = "SELECT name, text, owner, changed FROM penstock.saved WHERE name = %s"
_SAVE = """
INSERT INTO penstock.saved (name, text, owner)
SELECT %(name)s, %(text)s, %(role)s
WHERE EXISTS (SELECT 1 FROM penstock.saved WHERE name = %(name)s)
   OR (SELECT count(*) FROM penstock.saved WHERE owner = %(role)s) < %(most)s
ON CONFLICT (name) DO UPDATE SET text = excluded.text, changed = now() WHERE saved.owner = %(role)s OR %(owns)s
RETURNING owner
"""
_FORGET = "DELETE FROM penstock.saved WHERE name = %(name)s AND (owner = %(role)s OR %(owns)s) RETURNING owner"
_SAVED_BY = "SELECT owner FROM penstock.saved WHERE name = %s"
_OLDEST = "SELECT min(seq) AS seq FROM penstock.change"


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose request it is."""

    role: str
    label: str | None
    submits: bool
    """Whether the role may submit statements. The engine decides; this says what to show."""
    owns: bool
    """Whether the role sees and changes what others have made."""


class DoorCatalog:
    """What this door reads of PostgreSQL."""

    def __init__(self, url: str, *, connections: int = 10, select_seconds: float = 60, role_reads: int = 4) -> None:
        """`connections`: that read for clients, at most. `select_seconds`: the longest that one read takes.

        `role_reads`: reads of one role at once.
        """
        self.url = url
        self._select_seconds = select_seconds
        # Reads of clients may take long. Logins do not wait for them.
        self._own, self._reads = _make_pool(url, _OWN_CONNECTIONS), _make_pool(url, connections)
        self._turns: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(role_reads))

    async def open(self) -> None:
        """Connects in the background. A database that is away is found by the first read."""
        for pool in (self._own, self._reads):
            await pool.open(wait=False)

    async def close(self) -> None:
        """Closes all connections."""
        for pool in (self._own, self._reads):
            await pool.close()

    @asynccontextmanager
    async def read_as(self, role: str) -> AsyncIterator[AsyncConnection[Row]]:
        """A connection in a transaction that reads with the rights of a role, for a limited time.

        Raises:
            Problem: the role may not be used, or its other reads take too long.
        """
        turn = self._turns[role]
        try:
            await asyncio.wait_for(turn.acquire(), _WAIT_SECONDS)
        except TimeoutError:
            message = f"other reads of {role} are not done"
            raise Problem(503, message, sqlstate="53300", headers={"Retry-After": "5"}) from None
        try:
            async with self._reads.connection() as connection, connection.transaction():
                await self._become(connection, role)
                yield connection
        finally:
            turn.release()

    async def _become(self, connection: AsyncConnection[Row], role: str) -> None:
        await connection.execute("SET TRANSACTION READ ONLY")
        timeout = str(round(self._select_seconds * 1000))
        try:
            await connection.execute(
                "SELECT set_config('role', %s, true), set_config('statement_timeout', %s, true)", (role, timeout)
            )
        except (psycopg.errors.InvalidParameterValue, psycopg.errors.InsufficientPrivilege):
            raise _refuse_role(role, connection.info.user) from None

    async def find_caller(self, digest: bytes) -> Caller | None:
        """The role of the token with this SHA-256, None if there is none that may log in."""
        rows = await self._select(_CALLER, (digest,))
        return Caller(**rows[0]) if rows else None

    async def list_queries(self, role: str) -> list[Row]:
        return await self._select_as(role, _QUERIES)

    async def find_query(self, role: str, name: str) -> Row:
        """The query with its plan.

        Raises:
            Problem: there is none of this name.
        """
        rows = await self._select_as(role, _QUERY, (name,))
        if not rows:
            raise Problem(404, f"unknown query {name}")
        return rows[0]

    async def list_relations(self, role: str) -> list[Row]:
        return await self._select_as(role, _RELATIONS)

    async def list_lineage(self, role: str) -> list[Row]:
        """What each statement in force reads, makes and writes into, in order."""
        return await self._select_as(role, _LINEAGE)

    async def list_definitions(self, role: str) -> list[tuple[str, int, str]]:
        """Name, version and statement of each relation, in the order in which they were made."""
        rows = await self._select_as(role, _DEFINITIONS)
        return [(row["name"], row["version"], row["definition"]) for row in rows]

    async def list_statements(self, role: str, before: int, limit: int) -> list[Row]:
        """Statements with smaller numbers, the newest first.

        An owner gets the statements of all, others get their own.
        """
        return await self._select_as(role, _STATEMENTS, (before, limit))

    async def list_saved(self, role: str) -> list[Row]:
        """The statements that users have kept, by name, without their texts."""
        return await self._select_as(role, _SAVED)

    async def find_saved(self, role: str, name: str) -> Row:
        """A statement that a user has kept.

        Raises:
            Problem: there is none of this name.
        """
        rows = await self._select_as(role, _SAVED_ONE, (name,))
        if not rows:
            raise Problem(404, f"no statement is kept as {name}")
        return rows[0]

    async def save(self, caller: Caller, name: str, text: str, most: int) -> bool:
        """Keeps a statement, `most` of one role. False if the role may not change it, or has too many."""
        values = {"name": name, "text": text, "role": caller.role, "owns": caller.owns, "most": most}
        return bool(await self._select(_SAVE, values))

    async def forget(self, caller: Caller, name: str) -> bool:
        """Deletes a kept statement. False if there is none that the role may delete."""
        return bool(await self._select(_FORGET, {"name": name, "role": caller.role, "owns": caller.owns}))

    async def find_saver(self, name: str) -> str | None:
        """Who has kept a statement; None if there is none of this name."""
        rows = await self._select(_SAVED_BY, (name,))
        return rows[0]["owner"] if rows else None

    async def find_engine_state(self, seconds: float) -> str | None:
        """The state of the engine, None if it has not been seen for so long."""
        rows = await self._select(_ENGINE, (seconds,))
        return rows[0]["state"] if rows else None

    async def may_follow(self, digest: bytes, relation: str) -> bool:
        """Whether the token is still there, and its role may still read the relation."""
        return bool(await self._select(_MAY_FOLLOW, (digest, relation)))

    async def listen(self, relation: str, seconds: float) -> bool:
        """Has changes of a relation logged for so long. Returns whether they have been logged until now."""
        (row,) = await self._select(_LISTEN, {"relation": relation, "seconds": seconds})
        return bool(row["live"])

    async def find_newest_change(self) -> int:
        """The number of the newest change. Some with smaller numbers may not be committed yet."""
        (row,) = await self._select(_NEWEST)
        return int(row["seq"])

    async def find_next_transaction(self) -> str:
        """The number of the next transaction to begin."""
        (row,) = await self._select(_NEXT_TRANSACTION)
        return str(row["id"])

    async def are_done(self, transaction: str) -> bool:
        """Whether all transactions before this one have ended."""
        (row,) = await self._select(_ARE_DONE, (transaction,))
        return bool(row["done"])

    async def list_changes(self, relation: str, after: int, limit: int) -> list[Row]:
        """Changes with greater numbers, in order."""
        return await self._select(_CHANGES, (relation, after, limit))

    async def find_oldest_change(self) -> int | None:
        """The number of the oldest change in the log, None of an empty one."""
        (row,) = await self._select(_OLDEST)
        return None if row["seq"] is None else int(row["seq"])

    async def name_types(self, types: Sequence[tuple[int, int]]) -> tuple[str, ...]:
        """The names of types by their numbers, each with what modifies it."""
        numbers = [number for number, _ in types], [modifier for _, modifier in types]
        return tuple(row["name"] for row in await self._select(_TYPES, numbers)) if types else ()

    async def _select(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> list[Row]:
        async with self._own.connection() as connection:
            return await (await connection.execute(sql, parameters)).fetchall()

    async def _select_as(self, role: str, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        async with self.read_as(role) as connection:
            return await (await connection.execute(sql, parameters)).fetchall()


def _refuse_role(role: str, login: str) -> Problem:
    """Why nothing is read as this role."""
    text = sql.SQL("GRANT {} TO {} WITH INHERIT FALSE, SET TRUE").format(sql.Identifier(role), sql.Identifier(login))
    found = V015.at(None, role=role)
    return Problem(403, found.message, code=found.code, sqlstate="42501", hint=text.as_string())


def _make_pool(url: str, connections: int) -> AsyncConnectionPool[AsyncConnection[Row]]:
    return AsyncConnectionPool(
        url,
        connection_class=AsyncConnection[Row],
        kwargs={"autocommit": True, "row_factory": dict_row, "application_name": "penstock http"},
        configure=_use_utc,
        check=AsyncConnectionPool.check_connection,
        min_size=1,
        max_size=connections,
        timeout=_WAIT_SECONDS,
        open=False,
    )


async def _use_utc(connection: AsyncConnection[Row]) -> None:
    await connection.execute("SET timezone = UTC")
    await connection.execute("SET search_path = pg_catalog")
