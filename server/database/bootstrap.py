"""What Penstock needs in the PostgreSQL of a server, made or renewed at each start."""

from __future__ import annotations

import hashlib
from importlib.resources import files

import psycopg
from psycopg import sql

SCRIPTS = (("penstock.server.database", "catalog.sql"), ("penstock.server.postgres", "functions.sql"))
ROLES = ("penstock_reader", "penstock_submitter", "penstock_owner")
_LOCK = 7_309_453  # any number that nothing else locks


def prepare_catalog(db: psycopg.Connection, owner: str) -> None:
    """Makes the schema, the roles and the functions. `owner`: the role that may change all, and let others do so."""
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        for package, name in SCRIPTS:
            db.execute(files(package).joinpath(name).read_text(encoding="utf-8"))
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
