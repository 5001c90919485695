"""Views of PostgreSQL that read relations of the server: the views of the schema `reports`, and others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import psycopg
from psycopg import sql

from penstock.diagnostics import CompileError, show_text
from penstock.diagnostics.codes.server import V021

_SHOWN = 5
"""The most views that an error names."""
_VIEWS = """
SELECT v.oid::regclass::text, v.relowner::regrole::text,
       coalesce(v.relnamespace = to_regnamespace('reports'), false)
         AND to_regprocedure('penstock_guard.put_back()') IS NOT NULL,
       coalesce(array_agg(DISTINCT a.attname::text) FILTER (WHERE a.attname IS NOT NULL), '{}')
FROM pg_depend AS d JOIN pg_rewrite AS r ON r.oid = d.objid JOIN pg_class AS v ON v.oid = r.ev_class
LEFT JOIN pg_attribute AS a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid AND a.attnum > 0
WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
  AND d.refobjid = to_regclass(%s) AND v.oid <> d.refobjid
GROUP BY v.oid, v.relowner, v.relnamespace ORDER BY 1
"""
_GUARD = "SELECT to_regprocedure('penstock_guard.put_back()') IS NOT NULL"


@dataclass(frozen=True, slots=True)
class ReadingView:
    """A view that reads a relation. `is_report`: the server makes it again when the relation is replaced."""

    name: str
    """As PostgreSQL writes it, with its quotes."""
    owner: str
    is_report: bool
    columns: frozenset[str]
    """The columns of the relation that it uses."""


def list_views(db: psycopg.Connection, relation: str) -> list[ReadingView]:
    """The views that read a relation of `public`."""
    found = db.execute(_VIEWS, [_quote(relation)]).fetchall()
    return [ReadingView(name, owner, is_report, frozenset(columns)) for name, owner, is_report, columns in found]


def name_views(views: Collection[ReadingView]) -> str:
    """Views and who has made them, in words."""
    shown = [show_text(f"{each.name} of {each.owner}") for each in list(views)[:_SHOWN]]
    return ", ".join(shown) + (f" and {len(views) - _SHOWN} more" if len(views) > _SHOWN else "")


def write_drops(views: Collection[ReadingView]) -> str:
    """The statement that drops views."""
    return show_text(f"DROP VIEW {', '.join(each.name for each in views)}")


def check_unread(db: psycopg.Connection, relations: Sequence[str]) -> None:
    """Raises CompileError if views of PostgreSQL read relations that are to be dropped."""
    views = {view.name: view for each in relations for view in list_views(db, each)}.values()
    if views:
        found = V021.at(None, name=relations[0], views=name_views(views))
        raise CompileError([found.with_hint(write_drops(views))])


def drop_reports(db: psycopg.Connection, relations: Iterable[str]) -> None:
    """Drops the views of `reports` that read relations."""
    _call(db, "SELECT penstock_guard.put_aside(%s, false)", [_quote(each) for each in relations])


def put_aside(db: psycopg.Connection, relations: Iterable[str]) -> None:
    """Drops the views of `reports` that read relations, for `put_back` in the same transaction."""
    _call(db, "SELECT penstock_guard.put_aside(%s, true)", [_quote(each) for each in relations])


def put_back(db: psycopg.Connection) -> None:
    """Makes the views again. Raises psycopg.errors.DependentObjectsStillExist for one that does not fit."""
    _call(db, "SELECT penstock_guard.put_back()")


def _call(db: psycopg.Connection, text: str, *values: list[str]) -> None:
    """Calls what only a PostgreSQL of the server's own has."""
    if db.execute(_GUARD).fetchone() == (True,):
        db.execute(text, values)


def _quote(relation: str) -> str:
    return sql.Identifier("public", relation.lower()).as_string()
