"""Rows -> a table of the first few of them on standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, TextIO

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from penstock.diagnostics.terminal import show_lines, show_text, styled

_PIPED_WIDTH = 200  # columns where no terminal says how wide it is


class PlainConsole(Console):
    """A console that shows texts of users as they are, but for the characters that would steer the terminal."""

    def __init__(self, stream: TextIO) -> None:
        # Behind a line that moves the stream is a proxy, which would move what is printed to the line's stream.
        file = styled(stream)
        file = styled(getattr(file, "rich_proxied_file", file))
        super().__init__(file=file, markup=False, emoji=False, highlight=False)

    def render_str(self, text: str, **style: Any) -> Text:
        """A line, such as the line of a cell. What would steer the terminal takes the columns that its escape takes."""
        return super().render_str(show_text(text), **style)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The parts of anything that is printed. Rich's own controls are apart from texts."""
        for each in super().render(renderable, options):
            yield each if each.is_control else Segment(show_lines(each.text), each.style)


def output() -> Console:
    """Standard output."""
    console = PlainConsole(sys.stdout)
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
