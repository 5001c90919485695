"""What Penstock needs in the PostgreSQL of a server, made or renewed at each start."""

from __future__ import annotations

import hashlib
import time
from importlib.resources import files

import psycopg
from psycopg import sql

from penstock.kit.databases.locks import describe_holders

SCRIPTS = (("penstock.server.database", "catalog.sql"), ("penstock.server.postgres", "functions.sql"))
ROLES = ("penstock_reader", "penstock_submitter", "penstock_owner")
LOCK_SECONDS, ATTEMPTS = 2, 5
"""How long a statement waits for a lock, and how often all are run while others hold it or change the same."""
PASSING = (
    psycopg.errors.LockNotAvailable,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.UniqueViolation,
    psycopg.errors.InternalError_,
)
"""Errors of two servers that start at once, and of locks. The third and the last are what CREATE and GRANT raise."""


def prepare_catalog(db: psycopg.Connection, owner: str) -> None:
    """Makes the schema, the roles and the functions. `owner`: the role that may change all, and let others do so.

    The doors log in as it. Nothing is locked but what is made: a lock that users can take would keep a server from
    starting. Raises psycopg.Error.
    """
    for left in reversed(range(ATTEMPTS)):
        try:
            with db.transaction():
                _prepare(db, owner)
            return
        except PASSING:
            if not left:
                raise
            time.sleep(LOCK_SECONDS / 4)


def name_holders(db: psycopg.Connection) -> str:
    """The sessions of others that hold locks on the catalog, in words; empty if none does."""
    tables = db.execute(
        "SELECT array_agg(oid::regclass::text) FROM pg_class "
        "WHERE relnamespace = to_regnamespace('penstock') AND relkind IN ('r', 'v')"
    ).fetchone()
    assert tables is not None
    return describe_holders(db.cursor(), tables[0] or [], also_readers=True)


def _prepare(db: psycopg.Connection, owner: str) -> None:
    db.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
    for package, name in SCRIPTS:
        db.execute(files(package).joinpath(name).read_text(encoding="utf-8"))
    door = sql.SQL("GRANT SELECT, INSERT, UPDATE ON penstock.statement, penstock.listener, penstock.saved TO {}")
    db.execute(door.format(sql.Identifier(owner)))
    db.execute(sql.SQL("GRANT DELETE ON penstock.saved TO {}").format(sql.Identifier(owner)))
    for role in ROLES:
        grants = db.execute("SELECT pg_has_role(%s, %s, 'MEMBER WITH ADMIN OPTION')", [owner, role]).fetchone()
        if grants == (False,):
            text = sql.SQL("GRANT {} TO {} WITH ADMIN OPTION")
            db.execute(text.format(sql.Identifier(role), sql.Identifier(owner)))


def add_token(db: psycopg.Connection, token: str, role: str, label: str) -> None:
    """Lets HTTP requests with the token act as a role."""
    db.execute(
        "INSERT INTO penstock.token (hash, role, label) VALUES (%s, %s, %s) ON CONFLICT (hash) DO NOTHING",
        [hashlib.sha256(token.encode()).digest(), role, label],
    )
