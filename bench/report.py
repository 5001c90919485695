"""What was measured, its medians, and a table of them for the terminal."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.watch import Batches
from bench.workload import SYSTEMS


@dataclass(frozen=True, slots=True)
class Run:
    """One query run once by one system, over all rows or a part. `cpu` and `wall` in seconds; `out`: rows out.

    `batches`: what micro-batches cost, where that is what is asked.
    """

    query: str
    title: str
    system: str
    rows: int
    out: int
    cpu: float
    wall: float
    batches: Batches | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """`total` = `start` + rows / `rate`: CPU seconds, and rows for each further CPU second; `wall` of the large run.

    `start` is what no row pays: start-up, compiling, the micro-batches themselves.
    """

    rate: float
    start: float
    total: float
    wall: float

    @property
    def speed(self) -> str:
        """The rate in thousands; where further rows cost nothing that can be told from noise, there is none."""
        return f"{self.rate / 1000:,.0f} k" if self.is_told else "–"

    @property
    def is_told(self) -> bool:
        """Whether more rows have cost more."""
        return math.isfinite(self.rate)


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of one call of the command, on what machine, and over which events."""

    machine: dict[str, str]
    recipe: dict[str, Any]
    runs: list[Run]

    def write(self, path: Path) -> None:
        """Stores them, for `read`."""
        path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Runs:
        """What an earlier call has stored."""
        stored = json.loads(path.read_text(encoding="utf-8"))
        for run in stored["runs"]:
            run["batches"] = run.get("batches") and Batches(**run["batches"])
        return cls(stored["machine"], stored["recipe"], [Run(**run) for run in stored["runs"]])

    def cost(self, query: str, system: str) -> Cost | None:
        """What the query costs, from the medians of both sizes; None if it was not run."""
        sizes = sorted({run.rows for run in self.of(query, system)})
        if not sizes:
            return None
        small, large = ([run for run in self.of(query, system) if run.rows == size] for size in (sizes[0], sizes[-1]))
        total, wall = float(median(run.cpu for run in large)), float(median(run.wall for run in large))
        more = total - median(run.cpu for run in small)
        rate = (sizes[-1] - sizes[0]) / more if more > 0 else math.inf
        return Cost(rate, max(0.0, total - sizes[-1] / rate), total, wall)

    @property
    def watched(self) -> bool:
        """Whether micro-batches were measured, and not rows."""
        return any(run.batches for run in self.runs)

    def batches(self, query: str, system: str) -> Batches | None:
        """What a micro-batch of the query costs, each number the median of the runs; None if it was not watched."""
        found = [run.batches for run in self.of(query, system) if run.batches]
        if not found:
            return None
        return Batches(
            median(each.wall for each in found),
            median(each.cpu for each in found),
            round(median(each.memory for each in found)),
            round(median(each.state for each in found)),
        )

    def of(self, query: str, system: str) -> list[Run]:
        """All runs of a query by a system."""
        return [run for run in self.runs if (run.query, run.system) == (query, system)]

    def queries(self) -> list[Run]:
        """A run of each query over all rows, in order."""
        return list({run.query: run for run in sorted(self.runs, key=lambda run: run.rows)}.values())

    def systems(self) -> list[str]:
        """The systems of these runs, in order."""
        present = {run.system for run in self.runs}
        return [system.name for system in SYSTEMS if system.name in present]


def batches_told(batches: Batches) -> str:
    """Seconds of a micro-batch, its CPU seconds, and GiB of memory."""
    return f"{batches.wall:.2f} s, {batches.cpu:.2f} CPU s, {batches.memory / 2**30:.1f} GiB"


def print_tables(console: Console, measured: Runs) -> None:
    """A row for each query and a column for each system."""
    systems = measured.systems()
    titles = {system.name: system.title for system in SYSTEMS}
    table = Table(title="k rows per further CPU second (× the CPU of Penstock) + CPU s to start = CPU s in all, wall s")
    if measured.watched:
        table.title = "a micro-batch, and the most memory of all processes"
    for heading in ("query", "rows in", "rows out", *(titles[system] for system in systems)):
        table.add_column(heading, justify="left" if heading == "query" else "right")
    for query in measured.queries():
        cells = [_cell(measured, query.query, system) for system in systems]
        table.add_row(f"{query.query}: {query.title}", f"{query.rows:,}", f"{query.out:,}", *cells)
    console.print(table)


def _cell(measured: Runs, query: str, system: str) -> str:
    if measured.watched:
        batches = measured.batches(query, system)
        return batches_told(batches) if batches else "–"
    cost = measured.cost(query, system)
    if cost is None:
        return "–"
    speed = f"{cost.speed}{times(measured, query, system)}"
    return f"{speed} + {cost.start:.1f} = {cost.total:.1f}, {cost.wall:.1f}"


def times(measured: Runs, query: str, system: str) -> str:
    """How many times the CPU of Penstock a system takes for a row; empty for Penstock itself."""
    own, other = measured.cost(query, "penstock"), measured.cost(query, system)
    told = own is not None and other is not None and own.is_told and other.is_told
    return f" (×{own.rate / other.rate:.2f})" if own and other and told and system != "penstock" else ""
