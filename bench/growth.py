"""`python -m bench.growth`: what state, checkpoint and memory come to while a query runs over many micro-batches."""

from __future__ import annotations

import argparse
import tempfile
import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import mean, median

from matplotlib.figure import Figure
from rich.console import Console

from bench.machine import machine
from bench.measure import adopt_orphans, measure
from bench.nexmark import Recipe, generate
from bench.page import replace_block
from bench.turns import write_settings
from bench.watch import EVENTS, Batch, Moment, read_batches
from bench.workload import MAIN, SYSTEMS, Query, program

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
QUERIES = ("tumble", "join", "over")
PENSTOCK = next(system for system in SYSTEMS if system.name == "penstock")
EVERY = 2.0
"""Seconds from one look at the checkpoint to the next."""
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Folder:
    """A checkpoint at a moment."""

    time: float
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Growth:
    """A run of a query over the events."""

    query: Query
    batches: Sequence[Batch]
    folders: Sequence[Folder]
    moments: Sequence[Moment]

    def split(self, parts: int = 4) -> Iterator[tuple[Sequence[Batch], Sequence[Folder], Sequence[Moment]]]:
        """The run in parts of as many micro-batches."""
        size = len(self.batches) // parts
        for part in range(parts):
            batches = self.batches[part * size : (part + 1) * size]
            begin, end = batches[0].end, batches[-1].end
            folders = [each for each in self.folders if begin <= each.time <= end]
            moments = [each for each in self.moments if begin <= each.time <= end]
            yield batches, folders, moments


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument("--events", type=int, default=10_000_000, help="in all (default %(default)s)")
    parser.add_argument("--batches", type=int, default=1_000, help="micro-batches (default %(default)s)")
    parser.add_argument("--queries", default=",".join(QUERIES), help="of the set main, with commas between")
    parser.add_argument("--folder", type=Path, default=HERE / "out", help="for data and logs")
    parser.add_argument("--page", action="store_true", help="write table and plot of docs/performance.md")
    arguments = parser.parse_args()
    adopt_orphans()
    console = Console()
    recipe = Recipe(arguments.events, arguments.batches)
    data, _ = generate(recipe, arguments.folder / "data")
    queries = [next(query for query in MAIN if query.name == name) for name in arguments.queries.split(",")]
    runs = []
    for query in queries:
        with console.status(f"{query.title}: {arguments.batches:,} micro-batches"):
            runs.append(run_query(query, data, arguments.folder))
    lines = [*tabulate(runs)]
    console.print("\n".join(lines), markup=False, soft_wrap=True)
    if arguments.page:
        about = machine()
        named = ", ".join(f"{name} {about[name]}" for name in ("Python", "Java", "Spark"))
        load = f"{arguments.events:,} events in {arguments.batches:,} micro-batches, one run each"
        conditions = f"{about['date']}, {about['machine']}; {named}.\n{load}."
        replace_block(DOCS / "performance.md", "growth", [conditions, "", *lines])
        draw(runs).savefig(DOCS / "growth.svg")


def run_query(query: Query, data: Path, folder: Path) -> Growth:
    """Runs a query with a checkpoint, and looks at the checkpoint meanwhile.

    Raises:
        RuntimeError: it failed.
        ValueError: it does not run as one query of Spark with rows.
    """
    with tempfile.TemporaryDirectory(dir=folder) as work:
        place = Path(work)
        (place / "events").mkdir()
        write_settings(place, penstock=True, more={**EVENTS, "spark.eventLog.dir": f"{place}/events"})
        environment = {"SPARK_CONF_DIR": work, "TMPDIR": work, "PYTHONPATH": str(HERE.parent)}
        command = [*program(PENSTOCK, query, data, place / "out", place, "csv"), "--checkpoint", "state"]
        folders: list[Folder] = []
        ended = threading.Event()
        watcher = threading.Thread(target=watch_folder, args=(place / "state", folders, ended))
        watcher.start()
        try:
            cost = measure(command, place, environment, folder / "growth.log", watched=True)
        finally:
            ended.set()
            watcher.join()
        batches = read_batches(place / "events")
        if len({batch.query for batch in batches}) != 1:
            raise ValueError(f"{query.name} runs as several queries, or has no rows")
        return Growth(query, batches, folders, cost.moments)


def watch_folder(path: Path, found: list[Folder], ended: threading.Event) -> None:
    """Looks at a folder until the event is set. Files that go meanwhile do not count."""
    while not ended.wait(EVERY):
        sizes = []
        for each in path.rglob("*"):
            try:
                sizes.append(each.stat().st_size)
            except FileNotFoundError:
                continue
        found.append(Folder(datetime.now().timestamp(), len(sizes), sum(sizes)))


def tabulate(runs: Sequence[Growth]) -> Iterator[str]:
    """Markdown: a line for each quarter of a run.

    Raises:
        StatisticsError: a quarter was over before anything was looked at.
    """
    heads = "query", "micro-batches", "rows of state", "state, MiB", "checkpoint, MiB", "its files", "memory, GiB"
    yield f"| {' | '.join(heads)} | a micro-batch, s |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for run in runs:
        last = 0
        for batches, folders, moments in run.split():
            last += len(batches)
            cells = (
                f"{mean(each.rows for each in batches):,.0f}",
                f"{mean(each.state for each in batches) / MIB:,.1f}",
                f"{mean(each.bytes for each in folders) / MIB:,.1f}",
                f"{mean(each.files for each in folders):,.0f}",
                f"{mean(each.memory for each in moments) / 2**30:.1f}",
                f"{median(each.seconds for each in batches):.2f}",
            )
            yield f"| {run.query.title} | up to {last:,} | {' | '.join(cells)} |"


def draw(runs: Sequence[Growth]) -> Figure:
    """State, checkpoint and memory over the number of the micro-batch."""
    figure = Figure(figsize=(11, 3.2), layout="constrained")
    axes = figure.subplots(1, 3)
    titles = ("state, MiB", "checkpoint, MiB", "memory of all processes, GiB")
    for run in runs:
        ends = [each.end for each in run.batches]
        lines = (
            (range(len(ends)), [each.state / MIB for each in run.batches]),
            ([bisect_right(ends, each.time) for each in run.folders], [each.bytes / MIB for each in run.folders]),
            ([bisect_right(ends, each.time) for each in run.moments], [each.memory / 2**30 for each in run.moments]),
        )
        for axis, (places, values) in zip(axes, lines, strict=True):
            axis.plot(places, values, label=run.query.title, linewidth=1)
    for axis, title in zip(axes, titles, strict=True):
        axis.set_title(title, loc="left", fontsize="medium")
        axis.set_xlabel("micro-batches")
        axis.set_ylim(bottom=0)
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(axis="y", color="#dddddd")
    axes[0].legend(frameon=False, fontsize="small")
    return figure


if __name__ == "__main__":
    main()
