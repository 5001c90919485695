"""Queries that systems run in turns beside a server, over few rows and over many -> what each run used, as a table."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Protocol

from rich.console import Console

from bench.measure import Cost, measure
from penstock.runtime.spark.jvm import LONG_RUN_OPTIONS

ROOT = Path(__file__).parent.parent
_OPTIONS = "spark.driver.defaultJavaOptions"


class CountedServer(Protocol):
    """A server whose time is not counted as that of a program."""

    def cpu_seconds(self) -> float:
        """User and system time of the server."""


@dataclass(frozen=True, slots=True)
class Run:
    """One query run once by one system. Seconds; `cpu` of the program, `server` of the server beside it."""

    query: str
    system: str
    rows: int
    wall: float
    cpu: float
    server: float


def add_arguments(parser: argparse.ArgumentParser, titles: Iterable[str], systems: Iterable[str]) -> None:
    """The options that say what is run."""
    parser.add_argument("--rows", type=int, default=1_000_000, help="in all (default %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="of each query on each system, in turns")
    parser.add_argument("--queries", default=",".join(titles), help="with commas between")
    parser.add_argument("--systems", default=",".join(systems), help="with commas between")
    parser.add_argument("--page", action="store_true", help="write the table into docs/performance.md")


def list_sizes(rows: int) -> tuple[int, int]:
    """The rows of the short run and of the long one.

    Both have as many micro-batches, so the difference is what rows cost.
    """
    return rows // 10, rows


def run_in_turns(
    arguments: argparse.Namespace,
    run: Callable[[str, str, int], tuple[Run, object]],
    console: Console,
    left_out: Collection[tuple[str, str]] = (),
) -> Iterator[Run]:
    """Runs every query on every system, in turns. `run`: query, system and rows -> what it used, and a digest.

    `left_out`: queries, and the systems that do not run them.

    Raises SystemExit if the digests of two systems differ.
    """
    systems = arguments.systems.split(",")
    for number in range(arguments.runs):
        for query, rows in product(arguments.queries.split(","), list_sizes(arguments.rows)):
            found = {}
            for system in systems[number % len(systems) :] + systems[: number % len(systems)]:
                if (query, system) in left_out:
                    continue
                one, found[system] = run(query, system, rows)
                costs = f"{one.wall:6.1f} s {one.cpu:6.1f} CPU s + {one.server:5.1f}"
                console.print(f"{query:8} {one.rows:>9,} {system:13} {costs}")
                yield one
            if len(set(found.values())) > 1:
                raise SystemExit(f"{query}: the rows differ: {found}")


def write_settings(place: Path, penstock: bool, more: Mapping[str, str] | None = None) -> None:
    """Writes the settings with which Spark runs a program from the folder `place`.

    Penstock sets no options of the JVM where there is such a file, so they are in it.
    """
    settings = {"spark.driver.memory": "2g"} | ({_OPTIONS: LONG_RUN_OPTIONS} if penstock else {}) | dict(more or {})
    text = "".join(f"{name} {value}\n" for name, value in settings.items())
    (place / "spark-defaults.conf").write_text(text, encoding="utf-8")


def measure_beside(server: CountedServer, command: Sequence[str], place: Path, log: Path) -> tuple[Cost, float]:
    """Runs a program of Spark in the folder `place`. Returns what it used, and the CPU seconds of the server."""
    environment = {"SPARK_CONF_DIR": str(place), "TMPDIR": str(place), "PYTHONPATH": str(ROOT)}
    before = server.cpu_seconds()
    cost = measure([*command], place, environment, log)
    return cost, server.cpu_seconds() - before


def tabulate(
    head: str,
    titles: Mapping[str, str],
    systems: Mapping[str, str],
    runs: Sequence[Run],
    describe: Callable[[list[Run]], str],
) -> Iterator[str]:
    """Markdown: a line for each query, a column for each system that ran. `describe` makes a cell of their runs."""
    ran = [system for system in systems if any(run.system == system for run in runs)]
    yield f"| {head} | " + " | ".join(systems[system] for system in ran) + " |"
    yield "|---|" + "--:|" * len(ran)
    for query, title in titles.items():
        cells = [describe([run for run in runs if (run.query, run.system) == (query, system)]) for system in ran]
        if any(cells):
            yield f"| {title} | " + " | ".join(cell or "–" for cell in cells) + " |"
