"""What was measured, its medians, and a table of them for the terminal."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.workload import SYSTEMS

START = "start"


@dataclass(frozen=True, slots=True)
class Run:
    """One query run once by one system. `cpu` and `wall` in seconds, start-up included; `rows` in, `out` rows out."""

    query: str
    title: str
    system: str
    rows: int
    out: int
    cpu: float
    wall: float


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
        return cls(stored["machine"], stored["recipe"], [Run(**run) for run in stored["runs"]])

    def cpu(self, query: str, system: str) -> float | None:
        """The median of the CPU seconds without those of the start-up; None if it was not run."""
        return self._net(query, system, "cpu")

    def wall(self, query: str, system: str) -> float | None:
        """The median of the elapsed seconds without those of the start-up; None if it was not run."""
        return self._net(query, system, "wall")

    def start(self, system: str) -> float:
        """The CPU seconds of the start-up."""
        return median(run.cpu for run in self.of(START, system))

    def of(self, query: str, system: str) -> list[Run]:
        """All runs of a query by a system."""
        return [run for run in self.runs if (run.query, run.system) == (query, system)]

    def queries(self) -> list[Run]:
        """A run of each query, in order."""
        return list({run.query: run for run in reversed(self.runs) if run.query != START}.values())[::-1]

    def systems(self) -> list[str]:
        """The systems of these runs, in order."""
        present = {run.system for run in self.runs}
        return [system.name for system in SYSTEMS if system.name in present]

    def _net(self, query: str, system: str, what: str) -> float | None:
        def middle(name: str) -> float:
            return float(median(getattr(run, what) for run in self.of(name, system)))

        return max(0.01, middle(query) - middle(START)) if self.of(query, system) else None


def print_tables(console: Console, measured: Runs) -> None:
    """A row for each query and a column for each system, cost first as CPU seconds, then as rows per CPU second."""
    systems = measured.systems()
    titles = {system.name: system.title for system in SYSTEMS}
    table = Table(title="CPU s net of start-up (wall s) · k rows per CPU s · × Penstock's CPU s")
    for heading in ("query", "rows in", "rows out", *(titles[system] for system in systems)):
        table.add_column(heading, justify="left" if heading == "query" else "right")
    table.add_row("start-up", "", "", *(f"{measured.start(system):.1f}" for system in systems))
    for query in measured.queries():
        own = measured.cpu(query.query, "penstock")
        cells = []
        for system in systems:
            cpu, wall = measured.cpu(query.query, system), measured.wall(query.query, system)
            if cpu is None or wall is None:
                cells.append("–")
                continue
            ratio = f" · ×{cpu / own:.2f}" if own else ""
            cells.append(f"{cpu:.1f} ({wall:.1f}) · {query.rows / cpu / 1000:,.0f}{ratio}")
        table.add_row(f"{query.query}: {query.title}", f"{query.rows:,}", f"{query.out:,}", *cells)
    console.print(table)
