"""A line for each row on standard output, as Flink's `print` writes it.

A micro-batch that runs again after a crash prints its rows again.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from rich.text import Text

from penstock.codegen.program import DELETE, INSERT, UPDATE, SparkQuery
from penstock.diagnostics.terminal import show_text
from penstock.kit.spark_columns import quote_name
from penstock.runtime.connectors.protocol import RuntimeConnector, RuntimeSink
from penstock.runtime.progress.plain_console import output

_KINDS = {INSERT: "+I", UPDATE: "+U", DELETE: "-D"}


class PrintSink(RuntimeSink):
    """Prints `+I[1, lamp]` for a row. `+U` replaces the earlier row of its key, and `-D` deletes it.

    Where rows are not deleted, an update query does not tell new rows from others: each is `+U`.
    """

    def __init__(self, query: SparkQuery) -> None:
        identifier = str(query.output.values.get("print_identifier", ""))
        self._before = f"{identifier}> " if identifier else ""
        self._operation = query.operation
        self._kind = _KINDS[UPDATE if query.mode == "update" else INSERT]

    def write(self, batch: DataFrame, number: int) -> None:
        # Spark writes values of all types as CAST(… AS STRING) does.
        texts = [F.col(quote_name(name)).cast("string").alias(name) for name in batch.columns]
        # One collect: a batch that is computed twice is counted twice.
        rows = batch.select(*texts).toArrow().to_pylist()
        if rows:
            output().print(Text("\n".join(map(self.write_line, rows))), soft_wrap=True)

    def write_line(self, row: dict[str, str | None]) -> str:
        """The line of a row, whose values are texts."""
        kind = self._kind if self._operation is None else _KINDS[str(row[self._operation])]
        values = ["null" if value is None else value for name, value in row.items() if name != self._operation]
        return show_text(f"{self._before}{kind}[{', '.join(values)}]")


CONNECTOR = RuntimeConnector(sink=PrintSink)
