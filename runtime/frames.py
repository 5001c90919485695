"""A PaneView -> the rows that DuckDB makes of its panes in Spark's Python workers."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

from penstock.codegen import answer_panes
from penstock.codegen.program import PaneView


def framed(spark: SparkSession, view: PaneView) -> DataFrame:
    """The view's rows. Its function travels by value: the workers of a cluster have duckdb, but not penstock."""
    # Not the view itself, whose class is Penstock's.
    sql, given, kept, picked = view.sql, view.given, view.kept, dict(view.picked)

    def answer(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return answer_panes(batches, sql, given, kept, picked)

    cloudpickle.register_pickle_by_value(sys.modules[answer_panes.__module__])  # type: ignore[no-untyped-call]
    with warnings.catch_warnings():
        # mapInArrow looks for pandas, of which it uses nothing, and warns of a newer one.
        warnings.filterwarnings("ignore", message=".*pandas", category=FutureWarning)
        return spark.table(view.source).mapInArrow(answer, spark.sql(view.schema).schema)
