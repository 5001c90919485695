"""A server that allows little, over a running stream, with users who want more."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from tests.server.running.scripts import HOURS, declare_clicks
from tests.server.served import ServedProcess, wait_for

ROLES = {
    "rita": "penstock_reader",
    "sam": "penstock_submitter",
    "sue": "penstock_submitter",
    "olga": "penstock_owner",
}
SECRETS = {"HIDDEN_SECRET": "hidden-secret-text", "ALLOWED_SECRET": "allowed-secret-text"}
SECRET_ROW = "secret-of-a-closed-folder"
OWN = (
    "CREATE TABLE own (id BIGINT PRIMARY KEY, page STRING) "
    "WITH (connector = 'sqlite', path = '{}', table = 'own', create = 'if_missing')"
)
LOST = (
    "CREATE STREAM lost (id BIGINT, page STRING, ts TIMESTAMP) WITH (connector = 'files', path = '{}', format = 'json')"
)
OF_SUE = "CREATE TABLE of_sue AS SELECT page, COUNT(*) AS n FROM clicks GROUP BY page"
FROM_SUE = "CREATE STREAM from_sue AS SELECT STREAM id FROM clicks"


@dataclass(frozen=True, slots=True)
class NarrowServer:
    """A server that runs, and its folders."""

    served: ServedProcess
    root: Path

    @property
    def folders(self) -> dict[str, str]:
        """What texts name in braces."""
        opened = self.root / "open"
        return {
            "open": str(opened),
            "closed": str(self.root / "closed"),
            "state": str(self.served.state),
            "port": str(self.port),
        }

    @property
    def port(self) -> int:
        return int(self.served.find(r"port=(\d+)"))

    @property
    def url(self) -> str:
        return self.served.find(r"(http://\S+?)/")

    @property
    def engine_log(self) -> str:
        return (self.served.state / "engine.log").read_text(encoding="utf-8", errors="replace")

    def find_processes(self) -> set[int]:
        """The server and its engine."""
        children = psutil.Process(self.served.process.pid).children()
        return {self.served.process.pid, *(each.pid for each in children if "python" in each.name())}

    def list_secrets(self) -> list[str]:
        """What no user may ever read."""
        files = ("penstock", "penstock_engine", "postgres", "token")
        kept = [(self.served.state / "secrets" / name).read_text(encoding="utf-8") for name in files]
        return [*SECRETS.values(), SECRET_ROW, "typed-secret", *kept]

    def list_state(self) -> dict[str, Any]:
        """All that statements could have changed."""
        with self.served.connect() as db:

            def rows(text: str) -> list[tuple[Any, ...]]:
                return db.execute(text).fetchall()

            return {
                "relations": rows("SELECT name, author, definition, version FROM penstock.relation ORDER BY name"),
                "queries": rows("SELECT name, author, state, restarts FROM penstock.query ORDER BY name"),
                "tokens": rows("SELECT role FROM penstock.token ORDER BY role"),
                "roles": rows("SELECT rolname, rolsuper, rolcreaterole FROM pg_roles ORDER BY rolname"),
                "members": rows("SELECT roleid::regrole, member::regrole FROM pg_auth_members ORDER BY 1, 2"),
                "tables": rows(
                    "SELECT relnamespace::regnamespace, relname FROM pg_class "
                    "WHERE relnamespace::regnamespace::text IN ('public', 'penstock', 'penstock_tail') ORDER BY 1, 2"
                ),
                "hourly": rows("SELECT page, n FROM hourly ORDER BY page"),
                "of_sue": rows("SELECT page, n FROM of_sue ORDER BY page"),
                "files": sorted(str(each) for name in ("closed", "open") for each in self._list_files(name)),
            }

    def _list_files(self, name: str) -> Iterator[Path]:
        state = self.served.state
        for folder, names, files in os.walk(self.root / name):
            names[:] = [each for each in names if Path(folder, each) != state]
            yield from (Path(folder, each) for each in (*names, *files))


@contextmanager
def serve_narrowly(root: Path) -> Iterator[NarrowServer]:
    """The server in a folder. Its state is inside of the folder that statements may read."""
    root.chmod(0o755)  # PostgreSQL has a user of its own
    for name in ("open/in", "closed", "lost"):
        (root / name).mkdir(parents=True)
    (root / "closed" / "secret.csv").write_text(f"{SECRET_ROW}\n", encoding="utf-8")
    (root / "open" / "link").symlink_to(root / "closed")
    rows = [{"id": number, "page": "a", "ts": "2026-01-01T10:00:00Z"} for number in range(3)]
    (root / "open" / "in" / "1.json").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    script = root / "script.sql"
    parts = [declare_clicks(root / "open" / "in"), HOURS, OWN.format(root / "own.db"), LOST.format(root / "lost")]
    script.write_text(";\n".join(parts) + ";\n", encoding="utf-8")
    allowed = ["files", "postgres", "sqlite"]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SECRETS.items():
            patch.setenv(name, value)
        served = ServedProcess(
            root / "open" / "state",
            script,
            *(part for name in allowed for part in ("--allow-connector", name)),
            *("--allow-path", root / "open", "--allow-host", "db.example", "--allow-secret", "ALLOWED_SECRET"),
        )
    with served:
        served.wait_until_ready()
        server = NarrowServer(served, root)
        with served.connect() as db:
            make_users(db)
        with psycopg.connect(**login(server, "sue")) as db:
            db.execute(OF_SUE)
            db.execute(FROM_SUE)
            wait_for(lambda: db.execute("SELECT n FROM of_sue").fetchall() == [(3,)])
            wait_for(lambda: db.execute("SELECT n FROM hourly").fetchall() == [(3,)])
            wait_for(lambda: len(db.execute("SELECT id FROM from_sue").fetchall()) == 3)
        yield server


def make_users(db: psycopg.Connection) -> None:
    """Users whose passwords are their names, with tokens."""
    for role, group in ROLES.items():
        db.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{role}' IN ROLE {group}")
        digest = hashlib.sha256(f"pst_{role}".encode()).digest()
        db.execute("INSERT INTO penstock.token (hash, role) VALUES (%s, %s)", [digest, role])


def login(server: NarrowServer, role: str) -> dict[str, Any]:
    """The arguments of psycopg."""
    place = {"host": "127.0.0.1", "port": server.port, "dbname": "penstock"}
    return {**place, "user": role, "password": role, "autocommit": True}


def list_tracebacks(server: NarrowServer) -> list[str]:
    """What the logs show of faults that nobody foresaw."""
    logs = server.served.text + "\n" + server.engine_log
    return re.findall(r"(?m)^.*(?:Traceback|V013|defect of Penstock|Unhandled|never retrieved).*$", logs)
