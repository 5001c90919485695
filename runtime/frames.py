"""A PaneView -> the rows that DuckDB makes of its panes in Spark's Python workers."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import TypeAlias

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

from penstock.codegen import answer_panes
from penstock.codegen.program import PaneView

Batches: TypeAlias = Iterator[pa.RecordBatch]


def framed(spark: SparkSession, view: PaneView) -> DataFrame:
    """The view's rows."""
    with warnings.catch_warnings():
        # mapInArrow looks for pandas, of which it uses nothing, and warns of a newer one.
        warnings.filterwarnings("ignore", message=".*pandas", category=FutureWarning)
        return spark.table(view.source).mapInArrow(answerer(view), spark.sql(view.schema).schema)


def answerer(view: PaneView) -> Callable[[Batches], Batches]:
    """The function that the workers run. It travels by value: those of a cluster have duckdb, but not penstock."""
    # Not the view itself, whose class is Penstock's.
    sql, given, kept, picked = view.sql, view.given, view.kept, dict(view.picked)

    def answer(batches: Batches) -> Batches:
        return answer_panes(batches, sql, given, kept, picked)

    cloudpickle.register_pickle_by_value(sys.modules[answer_panes.__module__])  # type: ignore[no-untyped-call]
    return answer
