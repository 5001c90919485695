"""The terminal, without colours: a run by Penstock prints tables of its own."""

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter


def write_console(rows: DataFrame, query: str, limit: int) -> DataStreamWriter:
    """A table for every batch that has rows."""

    def show(batch: DataFrame, number: int) -> None:
        batch.persist()
        if not batch.isEmpty():
            print(f"{query}, batch {number}")
            batch.show(limit, truncate=False)
        batch.unpersist()

    return rows.writeStream.foreachBatch(show)
