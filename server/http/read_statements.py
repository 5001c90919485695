"""Statements of PostgreSQL, run or looked at in a session of the user's own role. Most of them only read."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

import psycopg
from psycopg import AsyncConnection, generators
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from penstock.diagnostics import nearest
from penstock.server.client_limits import Limits
from penstock.server.engine_protocol import Refusal, RefusedError, StatementAnswer
from penstock.server.http.answer_room import AnswerRoom, note_cut
from penstock.server.http.door_catalog import DoorCatalog
from penstock.server.http.role_sessions import RoleSessions

log = logging.getLogger("penstock.http")

_UNKNOWN_RELATION, _TOO_LONG, _TOO_MUCH, _AWAY = "42P01", "57014", "54000", "57P03"
_NOTICES = 20
"""The most notices of one statement that are kept."""
_NOTICE_LENGTH = 1000


@dataclass(slots=True)
class _Found:
    """Rows as PostgreSQL writes them in its text format."""

    columns: tuple[str, ...]
    types: list[tuple[int, int]]
    """The number of each type, and what modifies it."""
    rows: list[tuple[str | None, ...]]
    tag: str = ""
    is_cut: bool = False


class ReadStatements:
    """Runs the statements of users that only read, as the roles of their tokens."""

    def __init__(self, sessions: RoleSessions, catalog: DoorCatalog, limits: Limits) -> None:
        self._sessions, self._catalog, self._limits = sessions, catalog, limits

    async def run(self, role: str, text: str, room: AnswerRoom, *, changes: bool = False) -> StatementAnswer:
        """The rows of a statement, the first ones if there are many. `room`: what is left for them, which they take.

        `changes`: it makes or drops a view.

        Raises:
            RefusedError: PostgreSQL refuses it.
            Problem: the role cannot be used.
        """
        if room.is_used_up:
            message = "the statements before it have answered as much as a script may"
            raise RefusedError((Refusal("", _TOO_MUCH, message, hint="send fewer statements at once"),))
        notices: list[str] = []

        def keep(notice: psycopg.errors.Diagnostic) -> None:
            if len(notices) < _NOTICES:
                notices.append((notice.message_primary or "")[:_NOTICE_LENGTH])

        try:
            async with self._sessions.open_session(role) as session:
                session.add_notice_handler(keep)
                if changes:
                    await session.execute("SET default_transaction_read_only = off")
                found = await self._read(session, text.encode(), room)
        except psycopg.Error as error:
            raise RefusedError((await self._explain(role, error),)) from None
        if found.is_cut:
            notices.insert(0, note_cut(len(found.rows)))
        types = await self._catalog.name_types(found.types)
        room.take_head(notices)
        return StatementAnswer(found.tag, found.columns, tuple(found.rows), tuple(notices), types)

    async def check(self, role: str, text: str) -> Refusal | None:
        """Why PostgreSQL would not run a statement; None if it would. It is not run.

        Raises:
            Problem: the role cannot be used.
        """
        try:
            async with self._sessions.open_session(role) as session:
                await _prepare(session, text.encode())
        except psycopg.Error as error:
            return await self._explain(role, error)
        return None

    async def _read(self, session: AsyncConnection, text: bytes, room: AnswerRoom) -> _Found:
        """Raises psycopg.Error."""
        await _prepare(session, text)
        session.pgconn.send_describe_prepared(b"")
        shape = await _finish(session)
        places = range(shape.nfields)
        columns = tuple((shape.fname(place) or b"").decode() for place in places)
        room.take_head(columns)
        found = _Found(columns, [(shape.ftype(place), shape.fmod(place)) for place in places], [])
        session.pgconn.send_query_prepared(b"", [])
        session.pgconn.set_single_row_mode()
        await session.wait(generators.send(session.pgconn))
        while (result := await session.wait(generators.fetch(session.pgconn))) is not None:
            if result.status != ExecStatus.SINGLE_TUPLE:
                _raise_for(result)
                found.tag = (result.command_status or b"").decode()
                continue
            row = [result.get_value(0, place) for place in places]
            if len(found.rows) == self._limits.select_rows or not room.take_row(row):
                found.is_cut, found.tag = True, f"SELECT {len(found.rows)}"
                break
            found.rows.append(tuple(None if value is None else value.decode() for value in row))
        return found

    async def _explain(self, role: str, error: psycopg.Error) -> Refusal:
        """What a user is told."""
        state, diag = error.sqlstate, error.diag
        if state is None:
            log.warning("PostgreSQL takes no statement of %s: %s", role, error)
            return Refusal("", _AWAY, "the database does not answer")
        position = None if diag.statement_position is None else int(diag.statement_position)
        refusal = Refusal("", state, diag.message_primary or "", diag.message_detail, diag.message_hint, position)
        if state == _TOO_LONG:
            seconds = f"{self._limits.select_seconds:g}"
            return replace(
                refusal, message=f"the statement took more than {seconds} seconds", hint="ask for fewer rows"
            )
        if state == _UNKNOWN_RELATION and refusal.hint is None:
            return replace(refusal, hint=await self._guess_relation(role, refusal.message))
        return refusal

    async def _guess_relation(self, role: str, message: str) -> str | None:
        """What may be meant by a name that PostgreSQL does not know."""
        name = message.partition('"')[2].partition('"')[0]
        relations = {each["name"]: each["kind"] for each in await self._catalog.list_relations(role)}
        if name in relations:
            kind = "STREAM" if relations[name] == "STREAM" else "TABLE"
            return f"the server keeps no rows of {name}; CREATE {kind} … AS SELECT … FROM {name} makes some to look at"
        guess = nearest(name, sorted(relations))
        return f"did you mean {guess}?" if guess else None


async def _prepare(session: AsyncConnection, text: bytes) -> None:
    """Has PostgreSQL read and resolve one statement. Raises psycopg.Error."""
    session.pgconn.send_prepare(b"", text)
    await _finish(session)


async def _finish(session: AsyncConnection) -> PGresult:
    results: list[PGresult] = await session.wait(generators.execute(session.pgconn))
    _raise_for(results[-1])
    return results[-1]


def _raise_for(result: PGresult) -> None:
    if result.status not in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
        raise psycopg.errors.error_from_result(result)
