"""Progress and reports of runs -> what `penstock run --once` shows: where it is, and what became of every row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.table import Table

from penstock.runtime import QueryReport, Status

COUNTS = ("in", "rejected", "late", "filtered", "used")


@contextmanager
def progress_shown() -> Iterator[Callable[[Status], None]]:
    """Gives the function to call after each batch. A terminal has one moving line, anything else a line per batch."""
    console = Console(stderr=True)
    with console.status("starting") as line:

        def show(status: Status) -> None:
            text = f"{status.name}: {status.rows:,} rows in, {status.out:,} out, batch {status.batches}"
            if console.is_terminal:
                line.update(text)
            else:
                console.print(text, highlight=False, soft_wrap=True)

        yield show


def show_accounts(reports: Iterable[QueryReport]) -> None:
    """Print the row accounts of finished queries: in = rejected + late + filtered + used, for every input."""
    table = Table(title="in = rejected + late + filtered + used", title_justify="left")
    for heading in ("query", "input", *COUNTS, "out"):
        table.add_column(heading, justify="left" if heading in {"query", "input"} else "right")
    notes = []
    for report in reports:
        out = f"{report.out:,}"
        for number, part in enumerate(report.inputs):
            counts = (part.read, part.rejected, part.late, part.filtered, part.used)
            table.add_row(
                "" if number else report.name, part.name, *(f"{count:,}" for count in counts), "" if number else out
            )
            if part.rejected_to:
                notes.append(f"rejected rows of {part.name}: {part.rejected_to}")
        if report.state_rows and not report.drained:
            notes.append(f"{report.name} keeps {report.state_rows:,} rows of state for the next run")
    console = Console()
    if not console.is_terminal:
        console.width = 200
    console.print(table)
    for note in notes:
        console.print(note, highlight=False, soft_wrap=True)
