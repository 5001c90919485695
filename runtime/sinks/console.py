"""connector = 'console' -> a table of a few rows per batch on standard output."""

from __future__ import annotations

import pyarrow as pa

from penstock.codegen.program import SparkQuery
from penstock.runtime.tables import output, show_rows

_ROWS = 20


class ConsoleSink:
    """Prints the first rows of each batch that has any. In an update query `~` marks rows that replace earlier ones."""

    def __init__(self, query: SparkQuery) -> None:
        self._name = query.output.name
        self._mark = "~" if query.mode == "update" else None
        self._key = query.key
        self._limit = int(dict(query.output.options).get("rows", _ROWS))

    def put(self, batch: pa.Table, number: int) -> None:
        """Prints a batch; `number` counts from 0."""
        if not batch.num_rows:
            return
        rows = "row" if batch.num_rows == 1 else "rows"
        heading = f"{self._name}, batch {number}: {batch.num_rows:,} {rows}"
        show_rows(heading, batch.slice(0, self._limit).to_pylist(), batch.num_rows, self._mark)
        if self._mark and self._key:
            output().print(f"  {self._mark} replaces the earlier row with the same {', '.join(self._key)}")
