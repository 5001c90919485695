"""Where a client connects to, and the programs that are clients."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tests.server.postgres.door import PASSWORDS

INSPECTED = """
CREATE TABLE IF NOT EXISTS alice.orders (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    product text NOT NULL REFERENCES revenue (product),
    price numeric(10, 2) DEFAULT 0 CHECK (price >= 0),
    at timestamptz,
    tags text[],
    note varchar(20) UNIQUE
);
COMMENT ON TABLE alice.orders IS 'CREATE TABLE orders …';
CREATE INDEX IF NOT EXISTS orders_at ON alice.orders (at DESC);
CREATE OR REPLACE VIEW alice.large AS SELECT * FROM alice.orders WHERE price > 100;
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
    done = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))
