"""Results of runs -> what `penstock run` shows at its end: what came out, and what became of every row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table

from penstock.diagnostics import hide_credentials
from penstock.runtime import Kept, LookupReport, QueryReport, Status, TableReport, output, show_rows

COUNTS = ("in", "rejected", "late", "filtered", "used")
ROWS_SHOWN = 10


def show_kept(tables: Iterable[Kept]) -> None:
    """Print the first rows of each memory sink."""
    for table in tables:
        count = len(table.rows)
        rows = "1 row" if count == 1 else f"{count:,} rows"
        if table.evicted:
            rows = f"the newest {count:,} of {count + table.evicted:,} rows"
        show_rows(f"{table.name}: {rows}", table.rows[:ROWS_SHOWN], count)


def make_report(status: Status) -> QueryReport:
    """What is known of a query that was stopped before the end of its input."""
    return QueryReport(
        status.name,
        status.inputs,
        status.out,
        status.batches,
        status.state_rows,
        status.watermark,
        drained=False,
        table=status.table,
        lookups=status.lookups,
    )


def show_reports(reports: Sequence[QueryReport], *, resumes: bool) -> None:
    """Print the reports of finished queries, with the account of each input: in = rejected + late + filtered + used.

    `resumes`: whether another run can go on from their state.
    """
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
                notes.append(f"{report.name}: rejected rows of {part.name} are in {hide_credentials(part.rejected_to)}")
        if resumes and report.state_rows and not report.drained:
            notes.append(f"{report.name} keeps {report.state_rows:,} rows of state for the next run")
        for reason in report.reasons:
            notes.append(f"{report.name} wrote nothing: {reason.text}")
    console = output()
    console.print(table)
    changed = [(report.name, report.table) for report in reports if report.table is not None]
    if changed:
        console.print(list_changes(changed))
    looked_up = [(report.name, each) for report in reports for each in report.lookups]
    if looked_up:
        console.print(list_lookups(looked_up))
    for name, each in changed:
        if each.rejected:
            notes.append(f"{name}: rejected rows are in the table {name}_rejected, beside {each.name}")
    for note in notes:
        console.print(note, soft_wrap=True)


def list_changes(reports: Iterable[tuple[str, TableReport]]) -> Table:
    """What each query changed in its table of a database, as a table to print."""
    counts = ("puts", "updates", "deletes", "rejected", "batches")
    return list_reports("tables of databases: changes", counts, reports)


def list_lookups(reports: Iterable[tuple[str, LookupReport]]) -> Table:
    """What each query looked up in tables of databases, as a table to print."""
    counts = ("gets", "hits", "misses", "cache_hits", "batches")
    return list_reports("tables of databases: lookups", counts, reports)


def list_reports(title: str, counts: Sequence[str], reports: Iterable[tuple[str, TableReport | LookupReport]]) -> Table:
    """A line for each query and table. `counts`: the fields that come first."""
    table = Table(title=title, title_justify="left")
    headings = [each.replace("_", " ") for each in counts]
    for heading in ("query", "table", *headings, "p50 ms", "p99 ms", "retries", "retrying s"):
        table.add_column(heading, justify="left" if heading in {"query", "table"} else "right")
    for query, each in reports:
        times = ["" if time is None else f"{time:,.1f}" for time in (each.p50_ms, each.p99_ms)]
        retried = (f"{each.retries:,}", f"{each.seconds_retrying:,.1f}")
        table.add_row(query, each.name, *(f"{getattr(each, name):,}" for name in counts), *times, *retried)
    return table
