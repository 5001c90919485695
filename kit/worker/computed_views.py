"""Views that Spark's Python workers compute: packed rows, and the answers of DuckDB.

`schema` is always a SELECT that is never run: it has the names and types of the columns.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from penstock.kit.worker.pack import pack_rows, unpack_tables
from penstock.kit.worker.panes import answer_panes
from penstock.kit.worker.partials import pack_partials


def packed_view(spark: SparkSession, source: str, length: int, cuts: Sequence[int], schema: str) -> DataFrame:
    """Tables of rows, packed in Python workers."""

    def pack(batches: Iterator[Any]) -> Iterator[Any]:
        return pack_rows(batches, length, cuts)

    return spark.table(source).mapInArrow(pack, spark.sql(schema).schema)


def partial_view(
    spark: SparkSession,
    source: str,
    length: int,
    cuts: Sequence[int],
    sql: str,
    given: Sequence[str],
    kept: Sequence[str],
    schema: str,
) -> DataFrame:
    """Tables of what DuckDB makes of rows in Python workers."""

    def pack(batches: Iterator[Any]) -> Iterator[Any]:
        return pack_partials(batches, length, cuts, sql, given, kept)

    return spark.table(source).mapInArrow(pack, spark.sql(schema).schema)


def pane_view(
    spark: SparkSession,
    source: str,
    order: str | None,
    sql: str,
    given: Sequence[str],
    kept: Sequence[str],
    picked: Mapping[str, str],
    schema: str,
) -> DataFrame:
    """What DuckDB makes of panes in Python workers."""

    def answer(batches: Iterator[Any]) -> Iterator[Any]:
        return answer_panes(batches, order, sql, given, kept, picked)

    return spark.table(source).mapInArrow(answer, spark.sql(schema).schema)


def bucket_view(
    spark: SparkSession,
    source: str,
    function: Callable[..., Iterator[bytes]],
    state: str,
    timeout: str,
    schema: str,
    **facts: Any,
) -> DataFrame:
    """What a function makes of tables in buckets and of their state."""
    connections: list[Any] = []

    def run(_: Any, frames: Iterator[Any], kept: Any) -> Iterator[Any]:
        import pandas as pd  # type: ignore[import-untyped, unused-ignore]

        arrived = (table for frame in frames for table in frame["rows"])
        for table in function(arrived, kept, connections, **facts):
            yield pd.DataFrame({"rows": [table]})

    buckets = spark.table(source).groupBy("bucket")
    tables = buckets.applyInPandasWithState(run, "rows BINARY", state, "append", timeout)
    return tables.mapInArrow(unpack_tables, spark.sql(schema).schema)
