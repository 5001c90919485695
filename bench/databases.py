"""`python -m bench.databases`: rows into a table of PostgreSQL, by Penstock and by hand; compares tables and costs."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from string import Template

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

from bench.machine import machine
from bench.measure import adopt_orphans
from bench.page import replace_block
from bench.server import Server, serve_postgres
from bench.turns import Run, add_arguments, list_sizes, measure_beside, run_in_turns, tabulate, write_settings

HERE = Path(__file__).parent
ROOT = HERE.parent
TITLES = {
    "upsert": "upsert of all columns",
    "update": "update of two columns, or insert",
    "count": "update that reads the row, or insert",
}
SYSTEMS = {
    "penstock": "Penstock",
    "copy": "by hand, COPY and one statement",
    "rows": "by hand, a statement for each row",
}
DDL = "CREATE TABLE profiles (k bigint PRIMARY KEY, n bigint, p numeric(18, 2), s text, z timestamptz)"
WRITTEN = "CREATE TABLE written (query text, batch bigint, PRIMARY KEY (query, batch))"
DIGEST = (
    "SELECT count(*), sum(n), sum(p), sum(hashtext(s)::bigint), max(z), sum(hashtext(z::text)::bigint) FROM profiles"
)


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m bench.databases", description=__doc__)
    add_arguments(parser, TITLES, SYSTEMS)
    parser.add_argument("--files", type=int, default=10, help="micro-batches")
    arguments = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, serve_postgres(Path(folder) / "server") as server:
        # From here on processes that lose their parent count; the server has lost its own before.
        adopt_orphans()
        runs = list(run_all(server, Path(folder), arguments, console))
    lines = list(tabulate("rows into PostgreSQL", TITLES, SYSTEMS, runs, describe))
    console.print("\n".join(lines))
    if arguments.page:
        replace_block(ROOT / "docs" / "performance.md", "databases", [conditions(arguments), "", *lines])


def run_all(server: Server, folder: Path, arguments: argparse.Namespace, console: Console) -> Iterator[Run]:
    """Runs every query on every system, in turns, and compares the tables."""
    sizes = list_sizes(arguments.rows)
    data = {rows: generate(folder / f"data-{rows}", rows, arguments.files) for rows in sizes}

    def run(query: str, system: str, rows: int) -> tuple[Run, object]:
        return measure_run(Job(query, system, rows, data[rows]), server, folder)

    return run_in_turns(arguments, run, console)


@dataclass(frozen=True, slots=True)
class Job:
    """What is run."""

    query: str
    system: str
    rows: int
    data: Path


def generate(folder: Path, rows: int, files: int) -> Path:
    """Rows with keys below a million, so that some meet in a micro-batch, in files in order of their times."""
    draw = np.random.default_rng(7)
    folder.mkdir()
    for number in range(files):
        count = rows // files
        keys = draw.integers(0, 1_000_000, count)
        table = pa.table(
            {
                "k": pa.array(keys, pa.int64()),
                "n": pa.array(draw.integers(0, 1 << 40, count)),
                "p": pa.array(draw.integers(0, 10**9, count)).cast(pa.decimal128(19, 0)).cast(pa.decimal128(18, 2)),
                "s": pa.array([f"customer {key} of {number}" for key in keys]),
                "z": pa.array(
                    draw.integers(1_600_000_000, 1_700_000_000, count) * 1_000_000, pa.timestamp("us", "UTC")
                ),
            }
        )
        pq.write_table(table, folder / f"{number:03}.parquet")
    return folder


def fill_database(server: Server) -> str:
    """Makes the table anew, with every second key of a million. Returns the address of the database."""
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS bench")
        connection.execute("CREATE DATABASE bench")
    with psycopg.connect(server.url("bench"), autocommit=True) as connection:
        old = "SELECT k, k, k / 100.0, 'customer ' || k, to_timestamp(k) FROM generate_series(0, 999999, 2) AS k"
        for statement in (DDL, WRITTEN, f"INSERT INTO profiles {old}", "VACUUM ANALYZE profiles", "CHECKPOINT"):
            connection.execute(statement)
    return server.url("bench")


def measure_run(job: Job, server: Server, folder: Path) -> tuple[Run, tuple[object, ...]]:
    """Runs a query over a new table that has every second key, and reads the table after it."""
    url = fill_database(server)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        place = Path(work)
        if job.system == "penstock":
            texts = [HERE / "changes" / f"{name}.sql" for name in ("ops", job.query)]
            given = {"data": str(job.data), "url": url}
            text = "\n".join(Template(each.read_text("utf-8")).substitute(given) for each in texts)
            (place / "script.sql").write_text(text, "utf-8")
            run = ["-c", "from penstock.commands.cli import main; main()", "run", "--once", "--checkpoint", "state"]
            command = [sys.executable, *run, "script.sql"]
        else:
            command = [sys.executable, "-m", "bench.programs.table", job.query, job.system, str(job.data), url]
        write_settings(place, penstock=job.system == "penstock")
        cost, used = measure_beside(server, command, place, folder / "log")
    with psycopg.connect(url) as connection:
        digest = connection.execute(DIGEST).fetchone()
    assert digest is not None
    return Run(job.query, job.system, job.rows, cost.wall, cost.cpu, used), digest


def describe(runs: list[Run]) -> str:
    """CPU seconds of program and server for the rows that the long run has more than the short one."""
    if not runs:
        return ""
    small, large = min(run.rows for run in runs), max(run.rows for run in runs)

    def more(name: str) -> float:
        ends = [median(getattr(run, name) for run in runs if run.rows == rows) for rows in (large, small)]
        return float(ends[0] - ends[1])

    return f"{more('cpu'):.1f} + {more('server'):.1f}"


def conditions(arguments: argparse.Namespace) -> str:
    """What the figures depend on."""
    about = machine()
    named = ", ".join(f"{name} {about[name]}" for name in ("Python", "Java", "Spark"))
    more = arguments.rows - arguments.rows // 10
    many = f"CPU seconds of the program + of the server for {more:,} further rows, in {arguments.files} micro-batches"
    return f"{about['date']}, {about['machine']}; {named}.\n{many}; medians of {arguments.runs} interleaved runs."


if __name__ == "__main__":
    main()
