"""Tables that are built where no reader looks, and the moment at which they take the places of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import psycopg
from psycopg import sql

from penstock.codegen.program import Program, SparkQuery
from penstock.diagnostics import CompileError, show_text
from penstock.diagnostics.codes.server import V019
from penstock.kit.databases.locks import describe_holder
from penstock.planner.plan import KStream
from penstock.server.running.home import BUILDS, TAILS
from penstock.server.running.live_script import LiveDefinition
from penstock.server.running.public_tables import (
    LEDGER,
    READER,
    drop_relation,
    is_at_home,
    list_rejected,
    list_relations,
    show_relation,
    shown_query,
)
from penstock.server.running.reading_views import list_views, name_views, write_drops

_GRANTS = """
SELECT CASE WHEN grantee = 0 THEN NULL ELSE pg_get_userbyid(grantee) END, privilege_type, is_grantable
FROM pg_class, aclexplode(relacl) WHERE oid = to_regclass(%s) AND grantee <> relowner
"""
_LIMITED = """
SELECT relrowsecurity OR EXISTS (SELECT FROM pg_policy WHERE polrelid = pg_class.oid),
       EXISTS (SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attacl IS NOT NULL)
FROM pg_class WHERE oid = to_regclass(%s)
"""
_HOLDERS = """
SELECT DISTINCT ON (s.xact_start, s.pid) s.usename, s.pid, s.application_name, s.state, l.mode,
       l.relation::regclass::text, extract(epoch FROM now() - s.xact_start)::bigint
FROM pg_locks AS l JOIN pg_stat_activity AS s ON s.pid = l.pid
WHERE l.granted AND l.locktype = 'relation' AND l.pid <> pg_backend_pid()
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND l.relation = ANY (SELECT to_regclass(name) FROM unnest(%s::text[]) AS name)
  AND NOT (s.usename = current_user AND s.application_name = 'penstock')
  AND (s.xact_start IS NULL OR clock_timestamp() - s.xact_start > interval '1s')
ORDER BY s.xact_start NULLS LAST, s.pid LIMIT 3
"""


def check_buildable(db: psycopg.Connection, made: LiveDefinition, replaced: LiveDefinition | None) -> None:
    """Raises CompileError if a definition cannot be built beside the one that it takes the place of."""
    name = made.relation or made.name or "the statement"
    for each in (made, *(() if replaced is None else (replaced,))):
        away = next((query for query in each.queries if not is_at_home(query, each.relation or "")), None)
        if away is not None:
            reason = f"rows of {away.name} go to a place outside of the server, which two queries would write"
            found = V019.at(None, name=name, reason=reason)
            raise CompileError([found.with_hint(f"{write_drop(each)}, and send the statement anew")])
    if replaced is None or shown_query(replaced) is None:
        return
    assert replaced.relation is not None
    query = shown_query(made)
    columns = frozenset[str]() if query is None else {column.name for column in query.root.schema}
    views = [each for each in list_views(db, replaced.relation) if not (each.is_report and each.columns <= columns)]
    for rejected in list_rejected(replaced):
        views += [each for each in list_views(db, rejected) if not each.is_report]
    if views:
        gone = sorted(frozenset[str]().union(*(each.columns for each in views if each.is_report)) - columns)
        reason = f"views of PostgreSQL read it: {name_views(views)}"
        if gone:
            reason = f"views read columns that the new one does not have ({', '.join(gone)}): {name_views(views)}"
        found = V019.at(None, name=name, reason=show_text(reason))
        raise CompileError([found.with_hint(f"{write_drops(views)}, and make them again afterwards")])
    limits = find_limits(db, replaced)
    if limits is not None:
        found = V019.at(None, name=name, reason=f"it has {limits}, which the new table would not have")
        raise CompileError([found.with_hint("remove them, and make them again afterwards")])


def find_limits(db: psycopg.Connection, definition: LiveDefinition) -> str | None:
    """What keeps users from rows or columns of a table, beside rights on the whole of it. None if nothing does."""
    has_policies, has_column_rights = db.execute(_LIMITED, [_public(definition)]).fetchone() or (False, False)
    if has_policies:
        return "row-level security"
    return "rights on columns" if has_column_rights else None


def write_drop(definition: LiveDefinition) -> str:
    """The statement that takes a definition away."""
    if definition.relation is None:
        return f"DROP QUERY {definition.name}"
    return f"DROP {definition.kind} {definition.relation}"


def redirect_output(program: Program, definition: LiveDefinition) -> Program:
    """The program with its rows in hidden tables. Its checkpoints fit the program itself, too."""

    def redirect(query: SparkQuery) -> SparkQuery:
        options = dict(query.output.options)
        if str(options.get("table")).split(".", 1)[0] not in ("public", TAILS):
            return query
        options["table"] = f"{BUILDS}.{str(options['table']).split('.', 1)[1]}"
        return replace(query, output=replace(query.output, options=tuple(options.items())))

    assert definition.relation is not None, "what has a table has a name"
    return replace(program, queries=tuple(map(redirect, program.queries)))


def drop_built(db: psycopg.Connection, definitions: Sequence[LiveDefinition]) -> None:
    """Drops what has been built for definitions that do not take effect."""
    with db.transaction():
        for definition in definitions:
            query = shown_query(definition)
            if query is None or definition.relation is None:
                continue
            name = definition.relation.lower()
            for each in (name, *list_rejected(definition)):
                db.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(BUILDS, each)))
            if _exists(db, BUILDS, LEDGER):
                forget = sql.SQL("DELETE FROM {} WHERE sink = %s").format(sql.Identifier(BUILDS, LEDGER))
                db.execute(forget, [f"{BUILDS}.{name}"])


def drop_left(db: psycopg.Connection, building: Sequence[LiveDefinition]) -> None:
    """Drops what has been built for other definitions than these: what earlier engines have left."""
    kept = [each for it in building if it.relation for each in (it.relation.lower(), *list_rejected(it))]
    with db.transaction():
        left = db.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename <> ALL (%s)", [BUILDS, [LEDGER, *kept]]
        )
        for (name,) in left.fetchall():
            db.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(BUILDS, name)))
        if _exists(db, BUILDS, LEDGER):
            forget = sql.SQL("DELETE FROM {} WHERE sink <> ALL (%s)").format(sql.Identifier(BUILDS, LEDGER))
            db.execute(forget, [[f"{BUILDS}.{each}" for each in kept]])


def find_holders(db: psycopg.Connection, definitions: Sequence[LiveDefinition]) -> str:
    """The sessions that have held locks on tables of definitions, or on views of these, for a second, in words.

    Queries do not count.
    """
    names = [name for each in definitions for name in list_relations(each)]
    views = [view.name for name in names for view in list_views(db, name)]
    places = [*(sql.Identifier("public", name).as_string() for name in names), *views]
    return "; ".join(describe_holder(*row) for row in db.execute(_HOLDERS, [places]).fetchall())


def lock_tables(db: psycopg.Connection, definitions: Sequence[LiveDefinition]) -> None:
    """Locks the tables and views of definitions, all at once, until the transaction of the caller ends."""
    names = [each.relation.lower() for each in definitions if each.relation is not None and shown_query(each)]
    places = [sql.Identifier("public", name) for name in names if _exists(db, "public", name)]
    if places:
        db.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(sql.SQL(", ").join(places)))


def take_over(db: psycopg.Connection, made: LiveDefinition, replaced: LiveDefinition | None) -> None:
    """Puts the table that was built into the place of the old one, inside of a transaction of the caller.

    Rights that were granted on the old one are granted on the new one. Clients that follow changes read it anew.
    """
    grants = [] if replaced is None else db.execute(_GRANTS, [_public(replaced)]).fetchall()
    old = None if replaced is None else shown_query(replaced)
    if replaced is not None and old is not None:
        limits = find_limits(db, replaced)
        if limits is not None:  # since the building began
            raise psycopg.errors.DependentObjectsStillExist(f"{replaced.relation} has {limits} of its own")
        drop_relation(db, replaced, old)
    query = shown_query(made)
    if query is not None and made.relation is not None:
        name = made.relation.lower()
        if isinstance(query.root.shape, KStream):
            _move(db, name, TAILS)
        else:
            _move(db, name, "public")
            for rejected in list_rejected(made):
                if _exists(db, BUILDS, rejected):
                    _move(db, rejected, "public")
                    db.execute(sql.SQL("GRANT SELECT ON {} TO {}").format(sql.Identifier("public", rejected), READER))
            _move_ledger(db, name)
        show_relation(db, made)
        for grantee, privilege, is_grantable in grants:
            _grant(db, name, grantee, privilege, is_grantable)
    for each in {each.relation.lower() for each in (made, replaced) if each is not None and each.relation is not None}:
        db.execute("DELETE FROM penstock.listener WHERE relation = %s", [each])
        db.execute("DELETE FROM penstock.change WHERE relation = %s", [each])
        db.execute("SELECT pg_notify('penstock_replaced', %s)", [each])


def _public(definition: LiveDefinition) -> str:
    assert definition.relation is not None
    return sql.Identifier("public", definition.relation.lower()).as_string()


def _exists(db: psycopg.Connection, schema: str, name: str) -> bool:
    return db.execute("SELECT to_regclass(%s)", [sql.Identifier(schema, name).as_string()]).fetchone() != (None,)


def _move(db: psycopg.Connection, name: str, schema: str) -> None:
    text = sql.SQL("ALTER TABLE {} SET SCHEMA {}")
    db.execute(text.format(sql.Identifier(BUILDS, name), sql.Identifier(schema)))


def _move_ledger(db: psycopg.Connection, name: str) -> None:
    """The micro-batches that are written, so that the query goes on behind them."""
    built, own = sql.Identifier(BUILDS, LEDGER), sql.Identifier("public", LEDGER)
    db.execute(sql.SQL("CREATE TABLE IF NOT EXISTS {} (LIKE {} INCLUDING ALL)").format(own, built))
    text = sql.SQL(
        "WITH moved AS (DELETE FROM {} WHERE sink = %(built)s RETURNING query, batch, digest, epoch, rows, written_at) "
        "INSERT INTO {} (query, sink, batch, digest, epoch, rows, written_at) "
        "SELECT query, %(own)s, batch, digest, epoch, rows, written_at FROM moved"
    )
    db.execute(text.format(built, own), {"built": f"{BUILDS}.{name}", "own": f"public.{name}"})


def _grant(db: psycopg.Connection, name: str, grantee: str | None, privilege: str, is_grantable: bool) -> None:
    text = sql.SQL("GRANT {} ON {} TO {}{}").format(
        sql.SQL(privilege),  # a word of PostgreSQL's catalog
        sql.Identifier("public", name),
        sql.SQL("PUBLIC") if grantee is None else sql.Identifier(grantee),
        sql.SQL(" WITH GRANT OPTION" if is_grantable else ""),
    )
    db.execute(text)
