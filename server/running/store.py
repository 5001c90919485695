"""The catalog of the server in PostgreSQL, as the engine reads and writes it."""

from __future__ import annotations

import os
import selectors
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from penstock.server.engine_protocol import Refusal, StatementAnswer
from penstock.server.running.answer_json import answer_json, refusal_json
from penstock.server.running.live_script import LiveDefinition


@dataclass(frozen=True, slots=True)
class WaitingStatement:
    """A statement that waits for the engine."""

    number: int
    text: str
    author: str
    door: str


@dataclass(frozen=True, slots=True)
class KeptStatement:
    """A statement in force, as the last engine left it. `folder`: the folder of its checkpoints."""

    number: int
    text: str
    author: str
    taken: frozenset[str]
    is_paused: bool
    folder: str


@dataclass(frozen=True, slots=True)
class BuildingStatement:
    """A statement that is built beside what is in force, as the last engine left it.

    change: the number of the first statement that takes effect with it. replaces: the number of what it takes the place
    of, None for a new definition.
    """

    number: int
    change: int
    replaces: int | None
    text: str
    author: str
    is_paused: bool
    folder: str


class Store:
    """The rows of the schema `penstock`. To be used by one thread."""

    def __init__(self, db: psycopg.Connection) -> None:
        self.db = db

    def prepare(self) -> None:
        """Says that an engine starts. Statements that the last one has left half done are refused."""
        self.say("STARTING")
        lost = Refusal("V007", "57P03", "the engine was interrupted while it ran this statement", hint="send it again")
        self.db.execute(
            "UPDATE penstock.statement SET state = 'refused', finished = now(), answer = %s WHERE state = 'running'",
            [Jsonb(refusal_json((lost,)))],
        )

    def listen(self) -> None:
        """Hears from now on when a statement comes; see `wait`."""
        self.db.execute("LISTEN penstock_statement")

    def say(self, state: str) -> None:
        """Tells the doors how the engine is."""
        self.db.execute(
            "INSERT INTO penstock.engine (state, process) VALUES (%(state)s, %(process)s) ON CONFLICT (one) DO UPDATE "
            "SET since = CASE WHEN engine.state = EXCLUDED.state AND engine.process = EXCLUDED.process "
            "THEN engine.since ELSE now() END, state = EXCLUDED.state, process = EXCLUDED.process, seen = now()",
            {"state": state, "process": os.getpid()},
        )

    def take(self, busy: Sequence[str] = ()) -> Iterator[WaitingStatement]:
        """The first waiting statement of each author who is not busy, marked as running."""
        authors = list(busy)
        while True:
            row = self.db.execute(
                "UPDATE penstock.statement SET state = 'running', started = now() WHERE id = (SELECT id FROM "
                "penstock.statement WHERE state = 'waiting' AND author <> ALL (%s) ORDER BY id LIMIT 1 "
                "FOR UPDATE SKIP LOCKED) RETURNING id, text, author, door",
                [authors],
            ).fetchone()
            if row is None:
                return
            taken = WaitingStatement(*row)
            authors.append(taken.author)
            yield taken

    def wait(self, seconds: float, *plugs: socket.socket) -> None:
        """Returns when a statement may have come, when something comes from a plug, or after so many seconds."""
        if next(self.db.notifies(timeout=0, stop_after=1), None) is None:
            with selectors.DefaultSelector() as looking:  # `select` knows no descriptors from 1024 on
                for each in (self.db.fileno(), *(plug.fileno() for plug in plugs)):
                    looking.register(each, selectors.EVENT_READ)
                looking.select(seconds)

    def answer(self, number: int, answer: StatementAnswer | tuple[Refusal, ...], text: str) -> None:
        """Writes the answer to a statement, and tells the doors. `text`: the statement as others may see it."""
        is_done = isinstance(answer, StatementAnswer)
        body = answer_json(answer) if isinstance(answer, StatementAnswer) else refusal_json(answer)
        with self.db.transaction():
            self.db.execute(
                "UPDATE penstock.statement SET state = %s, finished = now(), answer = %s, text = %s WHERE id = %s",
                ["done" if is_done else "refused", Jsonb(body), text, number],
            )
            self.db.execute("SELECT pg_notify('penstock_answer', %s)", [str(number)])

    def add_statement(self, text: str, author: str, door: str = "file") -> WaitingStatement:
        """A statement of a file that the server was started with, or one that is planned anew, noted as running."""
        row = self.db.execute(
            "INSERT INTO penstock.statement (text, author, door, state, started) "
            "VALUES (%s, %s, %s, 'running', now()) RETURNING id, text, author, door",
            [text, author, door],
        ).fetchone()
        assert row is not None
        return WaitingStatement(*row)

    def has_run(self, text: str) -> bool:
        """Whether a statement of a file has been run by a server before, in whatever place of a file."""
        found = self.db.execute(
            "SELECT 1 FROM penstock.statement WHERE door = 'file' AND state = 'done' "
            "AND btrim(text, E' \\t\\r\\n') = %s LIMIT 1",
            [text.strip(" \t\r\n")],
        )
        return found.fetchone() is not None

    def find_doors(self, numbers: Iterable[int]) -> dict[int, str]:
        """The door through which each of these statements has come, as far as the log still has it."""
        rows = self.db.execute("SELECT id, door FROM penstock.statement WHERE id = ANY (%s)", [list(numbers)])
        return dict(rows.fetchall())

    def roles(self, author: str) -> frozenset[str]:
        """The roles of Penstock that an author has."""
        rows = self.db.execute(
            "SELECT g.rolname FROM pg_roles AS a, pg_roles AS g WHERE a.rolname = %s "
            "AND g.rolname LIKE 'penstock\\_%%' AND pg_has_role(a.oid, g.oid, 'MEMBER')",
            [author],
        )
        return frozenset(name for (name,) in rows)

    def find_version(self, relation: str) -> int:
        """The version of a relation, 0 if it is not there."""
        found = self.db.execute("SELECT version FROM penstock.relation WHERE name = %s", [relation.lower()]).fetchone()
        return 0 if found is None else int(found[0])

    def keep(
        self,
        definition: LiveDefinition,
        folder: str,
        columns: Sequence[Mapping[str, str]],
        plan: Any,
        version: int,
    ) -> None:
        """Notes a definition that is in force from now on.

        `version`: the version of the relation, which counts replacements.
        """
        db = self.db
        with db.transaction():
            db.execute(
                "INSERT INTO penstock.definition (number, text, author, taken, folder) VALUES (%s, %s, %s, %s, %s)",
                [definition.number, definition.text, definition.author, Jsonb(sorted(definition.taken)), folder],
            )
            self.note_lineage(definition)
            if definition.relation is not None:
                db.execute(
                    "INSERT INTO penstock.relation (name, shown, kind, definition, author, columns, version) "
                    "VALUES (%s, %s, %s, %s, %s, %s, %s)",
                    [
                        *(definition.relation.lower(), definition.relation, definition.kind, definition.text),
                        *(definition.author, Jsonb(list(columns)), version),
                    ],
                )
            if definition.name is not None:
                db.execute(
                    "INSERT INTO penstock.query (name, relation, definition, author, state, plan) "
                    "VALUES (%s, %s, %s, %s, 'STARTING', %s) ON CONFLICT (name) DO UPDATE SET "
                    "relation = EXCLUDED.relation, definition = EXCLUDED.definition, author = EXCLUDED.author, "
                    "state = EXCLUDED.state, code = NULL, message = NULL, restarts = 0, plan = EXCLUDED.plan, "
                    "status = NULL, since = now(), updated = now()",
                    [definition.name, definition.relation, definition.text, definition.author, Jsonb(plan)],
                )
            db.execute("SELECT pg_notify('penstock_catalog', '')")

    def note_lineage(self, definition: LiveDefinition) -> None:
        """Notes which relations a definition in force reads, makes and writes into. May be repeated."""
        relation = None if definition.relation is None else definition.relation.lower()
        self.db.execute(
            "INSERT INTO penstock.lineage (number, relation, query, is_declared, connector, reads, writes) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (number) DO NOTHING",
            [
                *(definition.number, relation, definition.name, definition.is_declared, definition.connector or None),
                *(sorted(definition.reads - definition.writes), sorted(definition.writes)),
            ],
        )

    def forget(self, definition: LiveDefinition) -> None:
        """Removes a definition that is no longer in force."""
        with self.db.transaction():
            self.db.execute("DELETE FROM penstock.definition WHERE number = %s", [definition.number])
            if definition.relation is not None:
                self.db.execute("DELETE FROM penstock.relation WHERE name = %s", [definition.relation.lower()])
            if definition.name is not None:
                self.db.execute("DELETE FROM penstock.query WHERE name = %s", [definition.name])
            self.db.execute("SELECT pg_notify('penstock_catalog', '')")

    def keep_building(self, building: BuildingStatement, query: tuple[str, Any] | None) -> None:
        """Notes a statement that is built beside what is in force. `query`: the name of its query, and its plan."""
        with self.db.transaction():
            self.db.execute(
                "INSERT INTO penstock.building (number, change, replaces, text, author, folder) "
                "VALUES (%s, %s, %s, %s, %s, %s)",
                [
                    *(building.number, building.change, building.replaces),
                    *(building.text, building.author, building.folder),
                ],
            )
            if query is not None:
                self.db.execute(
                    "INSERT INTO penstock.query (name, definition, author, state, plan) "
                    "VALUES (%s, %s, %s, 'STARTING', %s) ON CONFLICT (name) DO NOTHING",
                    [query[0], building.text, building.author, Jsonb(query[1])],
                )

    def list_building(self) -> list[BuildingStatement]:
        """The statements that are built beside what is in force, in order."""
        rows = self.db.execute(
            "SELECT number, change, replaces, text, author, paused, folder FROM penstock.building ORDER BY number"
        )
        return [BuildingStatement(*row) for row in rows]

    def forget_building(self, number: int, query: str | None) -> None:
        """Removes a statement that is no longer built, and its query."""
        with self.db.transaction():
            self.db.execute("DELETE FROM penstock.building WHERE number = %s", [number])
            if query is not None:
                self.db.execute("DELETE FROM penstock.query WHERE name = %s", [query])

    def forget_change(self, number: int) -> None:
        """Removes all statements of a change that is given up, and its queries."""
        with self.db.transaction():
            self.db.execute(
                "DELETE FROM penstock.query WHERE name LIKE '%% (new)' AND definition IN "
                "(SELECT text FROM penstock.building WHERE change = %s)",
                [number],
            )
            self.db.execute("DELETE FROM penstock.building WHERE change = %s", [number])

    def trim_changes(self, limit: int) -> None:
        """Removes the oldest of the changes that clients follow, so that about so many stay."""
        self.db.execute("DELETE FROM penstock.change WHERE seq <= (SELECT max(seq) FROM penstock.change) - %s", [limit])

    def trim_statements(self, limit: int, max_bytes: int) -> None:
        """Removes the oldest statements that have ended, beyond a number and a size in bytes, with their answers.

        Statements of files stay, so that none of them is run twice.
        """
        self.db.execute(
            "DELETE FROM penstock.statement WHERE finished IS NOT NULL AND door <> 'file' AND id <= ("
            "SELECT greatest(max(id) FILTER (WHERE bytes > %s), max(id) - %s) FROM (SELECT id, sum("
            "pg_column_size(text) + coalesce(pg_column_size(answer), 0)) OVER (ORDER BY id DESC) AS bytes "
            "FROM penstock.statement) AS sized)",
            [max_bytes, limit],
        )

    def kept(self) -> list[KeptStatement]:
        """The statements in force, in order."""
        rows = self.db.execute(
            "SELECT number, text, author, taken, paused, folder FROM penstock.definition ORDER BY number"
        )
        return [
            KeptStatement(number, text, author, frozenset(taken), is_paused, folder)
            for number, text, author, taken, is_paused, folder in rows
        ]

    def pause(self, definition: LiveDefinition, paused: bool) -> None:
        """Notes whether a definition's queries are paused, so that a restart leaves them so."""
        for table in ("definition", "building"):
            self.db.execute(f"UPDATE penstock.{table} SET paused = %s WHERE number = %s", [paused, definition.number])

    def report(
        self, name: str, state: str, restarts: int, fault: tuple[str, str] | None, status: Mapping[str, Any]
    ) -> None:
        """How a query is. `fault`: the code and the message of what holds it. Figures that are left out stay."""
        code, message = fault or (None, None)
        self.db.execute(
            "UPDATE penstock.query SET since = CASE WHEN state = %(state)s THEN since ELSE now() END, "
            "state = %(state)s, restarts = %(restarts)s, code = %(code)s, message = %(message)s, "
            "status = coalesce(status, '{}') || %(status)s, updated = now() WHERE name = %(name)s",
            {
                "name": name,
                "state": state,
                "restarts": restarts,
                "code": code,
                "message": message,
                "status": Jsonb(status),
            },
        )
