"""Rows -> a table of the first few of them on standard output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from rich import box
from rich.console import Console
from rich.table import Table

_PIPED_WIDTH = 200  # columns where no terminal says how wide it is


def output() -> Console:
    """Standard output, to print text of users to as it is."""
    console = Console(markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = _PIPED_WIDTH
    return console


def show_rows(
    heading: str, rows: Sequence[Mapping[str, object]], total: int, marks: Sequence[str] | None = None
) -> None:
    """Prints a heading and the `rows`, the first of `total`, each behind its mark where there are any; times in UTC."""
    console = output()
    console.print(heading, soft_wrap=True)
    if rows:
        table = Table(box=box.SIMPLE)
        if marks is not None:
            table.add_column("")
        for name in rows[0]:
            table.add_column(name, justify="right" if _are_numbers(row[name] for row in rows) else "left")
        for place, row in enumerate(rows):
            table.add_row(*([] if marks is None else [marks[place]]), *map(_cell, row.values()))
        console.print(table)
    if total > len(rows):
        console.print(f"  and {total - len(rows):,} more")


def _are_numbers(values: Iterable[object]) -> bool:
    return all(
        value is None or (isinstance(value, int | float | Decimal) and not isinstance(value, bool)) for value in values
    )


def _cell(value: object) -> str:
    if isinstance(value, datetime):
        value = value.replace(tzinfo=None)
    return "NULL" if value is None else str(value)
