"""Where a client connects to, and the programs that are clients."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.house.files import ROOT
from tests.server.postgres.door import PASSWORDS

PROGRAMS = Path(__file__).parent / "programs"
STREAMS: list[list[str | None]] = [["clicks", "at TIMESTAMP, page STRING"], ["Wörter", None]]
"""What SHOW STREAMS answers, as JSON has it."""
PLAN = [["KStream"], ["  Scan clicks"]]
"""The answer to EXPLAIN PLAN."""
INSPECTED = """
GRANT REFERENCES ON revenue TO alice;
SET ROLE alice;
CREATE TYPE alice.size AS ENUM ('small', 'large');
CREATE TYPE alice.place AS (street text, number integer);
CREATE DOMAIN alice.percent AS numeric(5, 2) CHECK (VALUE BETWEEN 0 AND 100);
CREATE TABLE alice.orders (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    product text NOT NULL REFERENCES revenue (product),
    price numeric(10, 2) DEFAULT 0 CHECK (price >= 0),
    at timestamptz,
    tags text[],
    note varchar(20) UNIQUE,
    size alice.size,
    sent_to alice.place,
    discount alice.percent
);
COMMENT ON TABLE alice.orders IS 'CREATE TABLE orders …';
COMMENT ON COLUMN alice.orders.note IS 'what they said';
CREATE INDEX orders_at ON alice.orders (at DESC) INCLUDE (price);
CREATE VIEW alice.large AS SELECT * FROM alice.orders WHERE price > 100;
CREATE FUNCTION alice.twice(n integer) RETURNS integer LANGUAGE sql RETURN 2 * n;
CREATE PROCEDURE alice.rest(INOUT n integer) LANGUAGE sql AS 'SELECT n';
INSERT INTO alice.orders (product, price, at, tags, note, size, sent_to, discount) VALUES
    ('apple', 120, '2026-01-02 03:04:05.678901+00', '{red,"green, too"}', 'Größe', 'large', '("High St",7)', 12.5),
    ('pear', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
"""
"""What tools look at, besides the table `revenue`."""


@dataclass(frozen=True)
class Address:
    """A port of this machine that speaks as PostgreSQL does."""

    port: int
    tls: bool

    @property
    def environment(self) -> dict[str, str]:
        """The variables that libpq reads."""
        names = {"PGHOST": "127.0.0.1", "PGPORT": str(self.port), "PGUSER": "alice", "PGPASSWORD": PASSWORDS["alice"]}
        return {**names, "PGDATABASE": "postgres", "PGSSLMODE": "require" if self.tls else "disable"}

    @property
    def dsn(self) -> str:
        """A connection string of libpq."""
        names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD", "dbname": "PGDATABASE"}
        parts = [f"{name}='{self.environment[variable]}'" for name, variable in names.items()]
        return " ".join([*parts, f"sslmode={self.environment['PGSSLMODE']}"])

    def url(self, scheme: str = "postgresql") -> str:
        """A connection URL."""
        password = quote(PASSWORDS["alice"])
        mode = self.environment["PGSSLMODE"]
        return f"{scheme}://alice:{password}@127.0.0.1:{self.port}/postgres?sslmode={mode}"


def run_program(address: Address, *command: str, **environment: str) -> dict[str, Any]:
    """What a program found out: it prints a line of JSON `[name, value]` for each probe."""
    variables = {**os.environ, **address.environment, **environment}
    done = subprocess.run(command, capture_output=True, text=True, env=variables, cwd=ROOT, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))


def run_module(address: Address, name: str, packages: Path, *arguments: str, **environment: str) -> dict[str, Any]:
    """The same for a module of tests/server/clients/programs, which finds packages in the folder, too."""
    module = f"tests.server.clients.programs.{name}"
    path = os.pathsep.join([str(ROOT), str(packages)])
    return run_program(address, sys.executable, "-m", module, *arguments, PYTHONPATH=path, **environment)
