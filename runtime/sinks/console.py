"""connector = 'console' -> a table of a few rows per batch on standard output."""

from __future__ import annotations

from typing import Literal

import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table

from penstock.codegen.program import SparkQuery

_ROWS = 10


class ConsoleSink:
    """Prints the first rows of each batch that has any. In an update query `~` marks rows that replace earlier ones."""

    def __init__(self, query: SparkQuery) -> None:
        self._name = query.output.name
        self._mode: Literal["append", "update"] = query.mode
        self._key = query.key
        self._console = Console(markup=False, emoji=False, highlight=False)

    def put(self, batch: pa.Table, number: int) -> None:
        """Prints a batch; `number` counts from 0."""
        if not batch.num_rows:
            return
        rows = "row" if batch.num_rows == 1 else "rows"
        table = Table(box=box.SIMPLE)
        update = self._mode == "update"
        if update:
            table.add_column("")
        for field in batch.schema:
            table.add_column(field.name, justify="right" if _is_number(field.type) else "left")
        for row in batch.slice(0, _ROWS).to_pylist():
            table.add_row(*(["~"] if update else []), *(_cell(value) for value in row.values()))
        self._console.print(f"{self._name}, batch {number}: {batch.num_rows:,} {rows}", table)
        if batch.num_rows > _ROWS:
            self._console.print(f"  and {batch.num_rows - _ROWS:,} more")
        if update and self._key:
            self._console.print(f"  ~ replaces the earlier row with the same {', '.join(self._key)}")


def _is_number(type_: pa.DataType) -> bool:
    return bool(pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_))


def _cell(value: object) -> str:
    return "NULL" if value is None else str(value)
