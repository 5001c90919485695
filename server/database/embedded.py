"""A PostgreSQL of the server's own in its state folder, for machines that have none. It listens on a socket only."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import conninfo, sql

from penstock.server.database.start_limited import start_limited

DATABASE, ENGINE, OWNER, SUPERUSER = "penstock", "penstock_engine", "penstock", "postgres"
CONNECTIONS, RESERVED = 1200, 200
"""How many there may be, and how many of them users cannot take from the server's own roles."""
SESSION_MEMORY = 1 << 30
"""Bytes that a session may take. work_mem, which users set, is no limit."""
SETTINGS = {
    # The limit of one session. Sorts and cursors write them.
    "temp_file_limit": "256MB",
    # A statement whose client has gone is ended.
    "client_connection_check_interval": "2s",
    # Users can have their statements and plans written to the log, which nothing trims.
    "log_min_messages": "fatal",
    "log_min_error_statement": "panic",
}
RULES = "# Written by penstock serve: everybody has a password.\nlocal all all scram-sha-256\n"


@dataclass(frozen=True, slots=True)
class PasswordFiles:
    """Where the passwords of the server's own roles are: a file for each, which only its user reads."""

    folder: Path

    def file(self, role: str) -> Path:
        return self.folder / role

    def read(self, role: str) -> str:
        """The password of a role; a new one the first time."""
        path = self.file(role)
        if not path.exists():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(secrets.token_urlsafe(24))
        return path.read_text(encoding="utf-8")


class EmbeddedPostgres:
    """The PostgreSQL of the wheel, with its data in `<state>/postgres`."""

    def __init__(self, state: Path) -> None:
        self.passwords = PasswordFiles(state / "secrets")
        self._data = state / "postgres"
        self._server: Any = None

    def start(self) -> None:
        """Starts it, if it does not run; makes its roles and its database the first time."""
        is_new = not (self._data / "PG_VERSION").exists()
        if is_new:
            self._data.mkdir(parents=True, exist_ok=True)
        self._server = start_limited(self._data, SESSION_MEMORY)
        if not (self.passwords.folder / "ready").exists():
            self._set_up()
        self._limit()

    def url(self, role: str) -> str:
        """The address for a role, without its password."""
        return f"postgresql://{role}@/{DATABASE}?host={quote(self.socket, safe='/')}"

    def login(self, role: str) -> str:
        """The address for one of the server's own roles, with its password."""
        return conninfo.make_conninfo(self.url(role), password=self.passwords.read(role))

    @property
    def socket(self) -> str:
        """The folder of its socket."""
        info = self._server.get_postmaster_info()
        return str(info.socket_dir)

    @property
    def is_running(self) -> bool:
        """Whether its process lives."""
        return self._server is not None and bool(self._server.get_postmaster_info().is_running())

    def stop(self) -> None:
        """Stops it; the data stays."""
        if self._server is not None:
            self._server.stop()
            self._server = None

    def offer_reports(self) -> None:
        """Makes or renews the schema in which users have views. The catalog has to be there."""
        with psycopg.connect(self.login(SUPERUSER), autocommit=True) as db:
            db.execute(files("penstock.server.database").joinpath("reports.sql").read_text(encoding="utf-8"))

    def _limit(self) -> None:
        """Takes rights from users, and limits what a session may take."""
        with psycopg.connect(self.login(SUPERUSER), autocommit=True) as db:
            db.execute(files("penstock.server.database").joinpath("rights.sql").read_text(encoding="utf-8"))
            for name, value in SETTINGS.items():
                db.execute(sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(name), value))
            db.execute(sql.SQL("ALTER ROLE {} SET temp_file_limit = -1").format(sql.Identifier(ENGINE)))
            db.execute("SELECT pg_reload_conf()")

    def _set_up(self) -> None:
        """Makes roles and database over the open socket of a new server, and closes that to who has no password."""
        with psycopg.connect(f"host={self.socket} user={SUPERUSER} dbname=postgres", autocommit=True) as db:
            for role, rights in ((ENGINE, "CREATEROLE"), (OWNER, "CREATEROLE"), (SUPERUSER, "SUPERUSER")):
                there = db.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
                verb = sql.SQL("ALTER ROLE" if there else "CREATE ROLE")
                text = sql.SQL("{} {} LOGIN {} PASSWORD {}")
                password = sql.Literal(self.passwords.read(role))
                db.execute(text.format(verb, sql.Identifier(role), sql.SQL(rights), password))
            if db.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
                made = sql.SQL("CREATE DATABASE {} OWNER {}")
                db.execute(made.format(sql.Identifier(DATABASE), sql.Identifier(ENGINE)))
                # A schema that is called as the user would come first.
                path = sql.SQL("ALTER DATABASE {} SET search_path = public")
                db.execute(path.format(sql.Identifier(DATABASE)))
            for name, value in (("max_connections", CONNECTIONS), ("reserved_connections", RESERVED)):
                db.execute(sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(name), value))
            db.execute(
                sql.SQL("GRANT pg_use_reserved_connections TO {}, {}").format(*map(sql.Identifier, (ENGINE, OWNER)))
            )
            # HTTP reads as the users that the operator makes.
            db.execute(sql.SQL("ALTER ROLE {} SET createrole_self_grant = 'set'").format(sql.Identifier(OWNER)))
            rules = db.execute("SHOW hba_file").fetchone()
            assert rules is not None
            Path(rules[0]).write_text(RULES, encoding="utf-8")
        self._server.stop()
        self._server = start_limited(self._data, SESSION_MEMORY)
        (self.passwords.folder / "ready").touch()
