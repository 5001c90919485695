"""`python -m bench.lookups`: rows of a stream beside those of a table of PostgreSQL, by Penstock and by hand."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from string import Template

import duckdb
from rich.console import Console

from bench.databases import HERE, ROOT, fill_database, generate
from bench.machine import machine
from bench.measure import adopt_orphans
from bench.page import replace_block
from bench.server import Server, serve_postgres
from bench.turns import Run, add_arguments, list_sizes, measure_beside, run_in_turns, tabulate, write_settings

TITLES = {"1": "1 key", "100": "100 keys", "10000": "10,000 keys"}
SYSTEMS = {"penstock": "Penstock", "hand": "by hand"}
PARTS = {"1": 10}
"""Of what a tenth of the rows is enough."""
FILES = 10
DIGEST = "SELECT count(*), count(name), sum(hash(k, n, name, p)::HUGEINT) FROM read_parquet(?)"


@dataclass(frozen=True, slots=True)
class Job:
    """What is run. `keys`: of a statement."""

    keys: str
    system: str
    data: Path
    rows: int


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m bench.lookups", description=__doc__)
    add_arguments(parser, TITLES, SYSTEMS)
    arguments = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, serve_postgres(Path(folder) / "server") as server:
        # From here on processes that lose their parent count; the server has lost its own before.
        adopt_orphans()
        fill_database(server)
        runs = list(run_all(server, Path(folder), arguments, console))
    lines = list(tabulate("keys of a statement", TITLES, SYSTEMS, runs, describe))
    console.print("\n".join(lines))
    if arguments.page:
        replace_block(ROOT / "docs" / "performance.md", "lookups", [conditions(arguments), "", *lines])


def run_all(server: Server, folder: Path, arguments: argparse.Namespace, console: Console) -> Iterator[Run]:
    """Runs every number of keys on every system, in turns, and compares the rows."""
    sizes = {rows // part for rows in list_sizes(arguments.rows) for part in (1, *PARTS.values())}
    data = {rows: generate(folder / f"data-{rows}", rows, FILES) for rows in sizes}

    def run(keys: str, system: str, rows: int) -> tuple[Run, object]:
        rows //= PARTS.get(keys, 1)
        return measure_run(Job(keys, system, data[rows], rows), server, folder)

    return run_in_turns(arguments, run, console)


def measure_run(job: Job, server: Server, folder: Path) -> tuple[Run, object]:
    """Runs a query, and reads what it has written."""
    url = server.url("bench")
    with tempfile.TemporaryDirectory(dir=folder) as work:
        place = Path(work)
        if job.system == "penstock":
            text = (HERE / "changes" / "lookup.sql").read_text("utf-8")
            given = {"data": job.data, "url": url, "keys": job.keys, "out": "out"}
            (place / "script.sql").write_text(Template(text).substitute(given), "utf-8")
            run = ["-c", "from penstock.commands.cli import main; main()", "run", "--once", "--checkpoint", "state"]
            command = [sys.executable, *run, "script.sql"]
        else:
            command = [sys.executable, "-m", "bench.programs.lookup", str(job.data), url, job.keys, "out"]
        write_settings(place, penstock=job.system == "penstock")
        cost, used = measure_beside(server, command, place, folder / "log")
        with duckdb.connect() as connection:
            digest = connection.execute(DIGEST, [f"{place}/out/*.parquet"]).fetchone()
    return Run(job.keys, job.system, job.rows, cost.wall, cost.cpu, used), digest


def describe(runs: list[Run]) -> str:
    """Microseconds of CPU of program and server for a row that the long run has more than the short one."""
    if not runs:
        return ""
    small, large = min(run.rows for run in runs), max(run.rows for run in runs)

    def more(name: str) -> float:
        ends = [median(getattr(run, name) for run in runs if run.rows == rows) for rows in (large, small)]
        return float(ends[0] - ends[1]) / (large - small) * 1e6

    return f"{more('cpu'):.1f} + {more('server'):.1f}"


def conditions(arguments: argparse.Namespace) -> str:
    """What the figures depend on."""
    about = machine()
    named = ", ".join(f"{name} {about[name]}" for name in ("Python", "Java", "Spark"))
    rows = f"{arguments.rows:,} rows ({arguments.rows // PARTS['1']:,} where each key has a statement)"
    return (
        f"{about['date']}, {about['machine']}; {named}.\n"
        f"Microseconds of CPU of the program + of the server for a further row; {rows} in {FILES} micro-batches;\n"
        f"medians of {arguments.runs} interleaved runs."
    )


if __name__ == "__main__":
    main()
