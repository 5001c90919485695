"""`python -m bench.databases`: rows into a table of PostgreSQL, by Penstock and by hand; compares tables and costs."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median
from string import Template

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

from bench.machine import machine
from bench.measure import adopt_orphans, measure
from bench.page import replace_block
from bench.server import Server, serve_postgres

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


@dataclass(frozen=True, slots=True)
class Run:
    """One query run once by one system. Seconds; `cpu` of the program, `server` of PostgreSQL."""

    query: str
    system: str
    rows: int
    wall: float
    cpu: float
    server: float


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m bench.databases", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the stream (default %(default)s)")
    parser.add_argument("--files", type=int, default=10, help="micro-batches")
    parser.add_argument("--runs", type=int, default=3, help="of each query on each system, in turns")
    parser.add_argument("--queries", default=",".join(TITLES), help="with commas between")
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="with commas between")
    parser.add_argument("--page", action="store_true", help="write the table into docs/performance.md")
    arguments = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, serve_postgres(Path(folder) / "server") as server:
        # From here on processes that lose their parent count; the server has lost its own before.
        adopt_orphans()
        runs = list(run_all(server, Path(folder), arguments, console))
    lines = list(tabulate(runs))
    console.print("\n".join(lines))
    if arguments.page:
        replace_block(ROOT / "docs" / "performance.md", "databases", [conditions(arguments), "", *lines])


def run_all(server: Server, folder: Path, arguments: argparse.Namespace, console: Console) -> Iterator[Run]:
    """Runs every query on every system, in turns, and compares the tables."""
    # A short run has as many micro-batches: the difference is what rows cost.
    sizes = (arguments.rows // 10, arguments.rows)
    data = {rows: generate(folder / f"data-{rows}", rows, arguments.files) for rows in sizes}
    systems = arguments.systems.split(",")
    for number in range(arguments.runs):
        for query, rows in product(arguments.queries.split(","), sizes):
            found = {}
            for system in systems[number % len(systems) :] + systems[: number % len(systems)]:
                run, found[system] = measure_run(Job(query, system, rows, data[rows]), server, folder)
                costs = f"{run.wall:6.1f} s {run.cpu:6.1f} CPU s + {run.server:5.1f}"
                console.print(f"{query:8} {rows:>9,} {system:9} {costs}")
                yield run
            if len(set(found.values())) > 1:
                raise SystemExit(f"{query}: the tables differ: {found}")


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


def measure_run(job: Job, server: Server, folder: Path) -> tuple[Run, tuple[object, ...]]:
    """Runs a query over a new table that has every second key, and reads the table after it."""
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS bench")
        connection.execute("CREATE DATABASE bench")
    url = server.url("bench")
    with psycopg.connect(url, autocommit=True) as connection:
        old = "SELECT k, k, k / 100.0, 'customer ' || k, to_timestamp(k) FROM generate_series(0, 999999, 2) AS k"
        for statement in (DDL, WRITTEN, f"INSERT INTO profiles {old}", "VACUUM ANALYZE profiles", "CHECKPOINT"):
            connection.execute(statement)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        place = Path(work)
        if job.system == "penstock":
            texts = [HERE / "changes" / f"{name}.sql" for name in ("ops", job.query)]
            given = {"data": str(job.data), "url": url}
            text = "\n".join(Template(each.read_text("utf-8")).substitute(given) for each in texts)
            (place / "script.sql").write_text(text, "utf-8")
            run = ["-c", "from penstock.cli import main; main()", "run", "--once", "--checkpoint", "state"]
            command = [sys.executable, *run, "script.sql"]
        else:
            command = [sys.executable, "-m", "bench.programs.table", job.query, job.system, str(job.data), url]
        (place / "spark-defaults.conf").write_text("spark.driver.memory 2g\n", encoding="utf-8")
        environment = {"SPARK_CONF_DIR": work, "TMPDIR": work, "PYTHONPATH": str(ROOT)}
        before = server.cpu_seconds()
        cost = measure(command, place, environment, folder / "log")
        used = server.cpu_seconds() - before
    with psycopg.connect(url) as connection:
        digest = connection.execute(DIGEST).fetchone()
    assert digest is not None
    return Run(job.query, job.system, job.rows, cost.wall, cost.cpu, used), digest


def tabulate(runs: list[Run]) -> Iterator[str]:
    """Markdown: CPU seconds of the program and of the server for the further rows of the long run."""
    systems = [system for system in SYSTEMS if any(run.system == system for run in runs)]
    yield "| rows into PostgreSQL | " + " | ".join(SYSTEMS[system] for system in systems) + " |"
    yield "|---|" + "--:|" * len(systems)
    for query, title in TITLES.items():
        cells = [describe([run for run in runs if (run.query, run.system) == (query, system)]) for system in systems]
        if any(cells):
            yield f"| {title} | " + " | ".join(cells) + " |"


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
