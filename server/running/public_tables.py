"""Relations of Penstock as PostgreSQL shows them: comments, rights, indexes, views of streams, notes of changes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

import psycopg
from psycopg import sql

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.server import V005, V016
from penstock.kit.databases.locks import describe_holders
from penstock.planner.connectors import POSTGRES, TAIL
from penstock.planner.plan import KStream, RunningQuery, WindowAggregate, WTable
from penstock.planner.plan.walk import walk
from penstock.server.parameterized import ParameterizedName
from penstock.server.running.home import TAILS
from penstock.server.running.live_script import LiveDefinition
from penstock.server.running.reading_views import drop_reports

DROP_SECONDS, DROP_ATTEMPTS = 1, 4
"""How long a DROP waits for its lock at once, and how often."""
SYSTEM_COLUMNS = {"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"}
READER = sql.Identifier("penstock_reader")
EVENTS = (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD"))
LEDGER = "penstock_ledger"
REJECTED = "_rejected"
"""Ends the name of the table of rows that a query rejects, behind the name of the query."""
LONGEST = 63
"""The bytes of a name in PostgreSQL, which cuts off what is behind them."""


def shown_query(definition: LiveDefinition) -> RunningQuery | None:
    """The query that fills the relation of a definition in `public`; None if nothing there shows it."""
    if definition.relation is None:
        return None
    return next((each for each in definition.queries if is_at_home(each, definition.relation)), None)


def is_at_home(query: RunningQuery, relation: str) -> bool:
    """Whether the rows of a query go to the server's own table of a relation."""
    table = dict(query.sink.options).get("table")
    return (query.sink.connector, table) in (
        (POSTGRES.name, f"public.{relation.lower()}"),
        (TAIL.name, f"{TAILS}.{relation.lower()}"),
    )


def check_names(definition: LiveDefinition, others: Iterable[LiveDefinition]) -> None:
    """Raises CompileError for names that PostgreSQL would change, or that tables of the server have."""
    query = shown_query(definition)
    if query is None or definition.relation is None:
        return
    name = definition.relation.lower()
    own = [LEDGER, *(rejected for each in others if each is not definition for rejected in list_rejected(each))]
    made = [name, *list_rejected(definition), *(column.name for column in query.root.schema)]
    system = next((column.name for column in query.root.schema if column.name in SYSTEM_COLUMNS), None)
    long = next((each for each in made if len(each.encode()) > LONGEST), None)
    if "." in name:
        reason = "a table has no dot in its name"
    elif name in own:
        reason = "the server keeps a table of that name"
    elif system is not None:
        reason = f"each table of PostgreSQL has a column {system} of its own"
    elif long is not None:
        reason = f"{long[:20]}… has {len(long.encode())} bytes, and {LONGEST} are the limit"
    else:
        return
    shown = definition.relation if len(definition.relation) <= LONGEST else f"{definition.relation[:20]}…"
    raise CompileError([V016.at(query.span, "", name=shown, reason=reason)])


def list_relations(definition: LiveDefinition) -> list[str]:
    """The table or view of a definition in `public`, and the table for its rejected rows."""
    return [] if definition.relation is None else [definition.relation.lower(), *list_rejected(definition)]


def list_rejected(definition: LiveDefinition) -> list[str]:
    """The table for rejected rows beside the table of a definition. A stream has none."""
    query = shown_query(definition)
    return [] if query is None or isinstance(query.root.shape, KStream) else [f"{query.name}{REJECTED}"]


def check_free(db: psycopg.Connection, definition: LiveDefinition, replaced: LiveDefinition | None) -> None:
    """Raises CompileError if a new relation would take the name of a table that Penstock has not made for it."""
    query = shown_query(definition)
    if query is None or definition.relation is None:
        return
    own = [] if replaced is None else list_rejected(replaced)
    rejected = [each for each in list_rejected(definition) if each not in own]
    taken = db.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND (relname = ANY(%(rejected)s) "
        "OR relname = %(name)s AND NOT EXISTS (SELECT 1 FROM penstock.relation WHERE name = %(name)s))",
        {"name": definition.relation.lower(), "rejected": rejected},
    ).fetchone()
    if taken is not None:
        found = V005.at(query.span, "", name=f"public.{taken[0]}")
        raise CompileError([found.with_hint("choose another name, or drop or rename that table")])


def show_relation(db: psycopg.Connection, definition: LiveDefinition) -> None:
    """Completes the table or view of a definition whose queries have been opened. May be repeated."""
    query = shown_query(definition)
    if query is None or definition.relation is None:
        return
    name = definition.relation.lower()
    with db.transaction():
        db.execute("SET LOCAL lock_timeout = '5s'")
        if isinstance(query.root.shape, KStream):
            show_stream(db, name, query)
        else:
            complete_table(db, name, query)
        kind = sql.SQL("VIEW" if isinstance(query.root.shape, KStream) else "TABLE")
        shown = sql.Identifier("public", name)
        db.execute(sql.SQL("COMMENT ON {} {} IS {}").format(kind, shown, sql.Literal(definition.text.strip())))
        db.execute(sql.SQL("GRANT SELECT ON {} TO {}").format(shown, READER))


def show_stream(db: psycopg.Connection, name: str, query: RunningQuery) -> None:
    """A view of the newest rows, in the order in which they came. One that is there is not locked, and stays."""
    if db.execute("SELECT 1 FROM pg_views WHERE schemaname = 'public' AND viewname = %s", [name]).fetchone():
        return
    columns = sql.SQL(", ").join(
        sql.SQL("{} AS {}").format(sql.Identifier(f"c{place}"), sql.Identifier(column.name))
        for place, column in enumerate(query.root.schema)
    )
    text = sql.SQL("CREATE VIEW {} AS SELECT {} FROM {} ORDER BY number")
    db.execute(text.format(sql.Identifier("public", name), columns, sql.Identifier(TAILS, name)))


def complete_table(db: psycopg.Connection, name: str, query: RunningQuery) -> None:
    """An index that fits time filters, and triggers that note changes while somebody listens."""
    table = sql.Identifier("public", name)
    shape = query.root.shape
    assert not isinstance(shape, KStream)
    if isinstance(shape, WTable):
        index = sql.Identifier(f"{name}_by_time"[:63])
        text = sql.SQL("CREATE INDEX IF NOT EXISTS {} ON {} ({})")
        db.execute(text.format(index, table, sql.Identifier(shape.start)))
    key = sql.Literal(json.dumps(list(shape.identity)))
    for event, rows in EVENTS:
        text = sql.SQL(
            "CREATE OR REPLACE TRIGGER {} AFTER {} ON {} REFERENCING {} TABLE AS changed "
            "FOR EACH STATEMENT EXECUTE FUNCTION penstock.note_changes({})"
        )
        trigger = sql.Identifier(f"penstock_{event.lower()}")
        db.execute(text.format(trigger, sql.SQL(event), table, sql.SQL(rows), key))


def hide_relation(db: psycopg.Connection, definition: LiveDefinition, forget: Callable[[], None]) -> None:
    """Drops the table or view of a definition, with what its queries have noted beside it, and views of `reports`.

    `forget` takes the definition out of the catalog, in the same transaction: a restart never finds one without the
    other, and begins no empty table from old checkpoints.

    Raises psycopg.errors.LockNotAvailable, with a note of who holds the lock. Meanwhile others wait behind this
    transaction, so it does not wait long at once.
    """
    query = shown_query(definition)
    if query is None or definition.relation is None:
        forget()
        return
    for left in reversed(range(DROP_ATTEMPTS)):
        try:
            with db.transaction():
                db.execute(f"SET LOCAL lock_timeout = '{DROP_SECONDS}s'")
                drop_reports(db, list_relations(definition))
                drop_relation(db, definition, query)
                forget()
            return
        except psycopg.errors.LockNotAvailable as error:
            if not left:
                shown = sql.Identifier("public", definition.relation.lower()).as_string()
                error.add_note(describe_holders(db.cursor(), [shown], also_readers=True))
                raise
            time.sleep(DROP_SECONDS / 4)


def drop_relation(db: psycopg.Connection, definition: LiveDefinition, query: RunningQuery) -> None:
    """Drops the table or view that a query of a definition fills."""
    assert definition.relation is not None
    name = definition.relation.lower()
    if isinstance(query.root.shape, KStream):
        db.execute(sql.SQL("DROP VIEW IF EXISTS {}").format(sql.Identifier("public", name)))
        db.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(TAILS, name)))
        return
    db.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier("public", name)))
    for rejected in list_rejected(definition):
        db.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier("public", rejected)))
    if db.execute("SELECT to_regclass(%s)", [f"public.{LEDGER}"]).fetchone() != (None,):
        ledger = sql.SQL("DELETE FROM {} WHERE sink = %s").format(sql.Identifier("public", LEDGER))
        db.execute(ledger, [f"public.{name}"])


def delete_old_windows(db: psycopg.Connection, definition: LiveDefinition, watermark: datetime) -> int:
    """Deletes the windows of a table whose RETENTION has passed. Returns how many rows.

    Raises psycopg.Error if a writer holds some of them.
    """
    query = shown_query(definition)
    if query is None or definition.relation is None or not isinstance(query.root.shape, WTable):
        return 0
    windows = [each for each in walk(query.root) if isinstance(each, WindowAggregate) and each.retention is not None]
    if not windows:
        return 0
    kept = max(each.grace + (each.retention or 0) for each in windows)
    table, end = ParameterizedName("public", definition.relation.lower()), ParameterizedName(query.root.shape.end)
    text = sql.SQL("DELETE FROM {} WHERE {} < %s").format(table, end)
    with db.transaction():
        db.execute("SET LOCAL lock_timeout = '1s'")
        return db.execute(text, [watermark - timedelta(milliseconds=kept)]).rowcount
