"""Views that are not SQL alone -> the rows that Spark's Python workers compute: by packing, or with DuckDB."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, assert_never

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from penstock.codegen import answer_panes, answer_rows, look_up_rows, pack_rows, unpack_tables
from penstock.codegen.program import BucketView, LookupView, PackedView, PaneView

Batches: TypeAlias = Iterator[pa.RecordBatch]


def compute_frame(spark: SparkSession, view: PackedView | PaneView | BucketView | LookupView) -> DataFrame:
    """The view's rows."""
    rows, schema = spark.table(view.source), spark.sql(view.schema).schema
    with warnings.catch_warnings():
        # Spark looks for pandas, of which nothing or a column of bytes is used, and warns of a newer one.
        warnings.filterwarnings("ignore", message=".*pandas", category=FutureWarning)
        match view:
            case PackedView():
                return rows.mapInArrow(packer(view.length, view.cuts), schema)
            case PaneView():
                return rows.mapInArrow(answerer(view), schema)
            case BucketView():
                facts = {"order": view.order, "time": view.time, "back": view.back, "only": view.only}
                function = in_buckets(answer_rows, view, facts)
                return stateful(rows, function, "remembered BINARY, waiting BINARY", "EventTimeTimeout", schema)
            case LookupView():
                function = in_buckets(look_up_rows, view, {"newest": view.newest})
                return stateful(rows, function, "records BINARY", "NoTimeout", schema)
            case _:
                assert_never(view)


def ship_by_value(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which will travel by value: the workers of a cluster have duckdb, but not penstock."""
    for each in (pack_rows, answer_panes, answer_rows, look_up_rows):
        cloudpickle.register_pickle_by_value(sys.modules[each.__module__])  # type: ignore[no-untyped-call]
    return function


def packer(length: int, cuts: tuple[int, ...]) -> Callable[[Batches], Batches]:
    """The function that the workers run over rows to pack."""

    def pack(batches: Batches) -> Batches:
        return pack_rows(batches, length, cuts)

    return ship_by_value(pack)


def answerer(view: PaneView) -> Callable[[Batches], Batches]:
    """The function that the workers run over panes."""
    # Not the view itself, whose class is Penstock's.
    order, sql, given, kept, picked = view.order, view.sql, view.given, view.kept, dict(view.picked)

    def answer(batches: Batches) -> Batches:
        return answer_panes(batches, order, sql, given, kept, picked)

    return ship_by_value(answer)


def in_buckets(
    function: Callable[..., Iterator[bytes]], view: BucketView | LookupView, own: dict[str, Any]
) -> Callable[[Any, Iterator[Any], Any], Iterator[Any]]:
    """The function that the workers run over a bucket and its state; `own`: what it is told beside what all are."""
    facts = {"sql": view.sql, "given": view.given, "kept": view.kept, "picked": dict(view.picked), **own}
    connections: list[Any] = []

    def run(_: Any, frames: Iterator[Any], state: Any) -> Iterator[Any]:
        import pandas as pd  # type: ignore[import-untyped]

        arrived = (table for frame in frames for table in frame["rows"])
        for table in function(arrived, state, connections, **facts):
            yield pd.DataFrame({"rows": [table]})

    return ship_by_value(run)


def stateful(rows: DataFrame, function: Callable[..., Any], state: str, timeout: str, schema: StructType) -> DataFrame:
    """The rows that a function makes of buckets of tables and of their state."""
    tables = rows.groupBy("bucket").applyInPandasWithState(function, "rows BINARY", state, "append", timeout)
    return tables.mapInArrow(ship_by_value(unpack_tables), schema)
