"""Views -> their rows: by Spark SQL, or by Spark's Python workers, which pack rows or ask DuckDB."""

from __future__ import annotations

from typing import Any, assert_never

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.codegen.program import (
    BucketedView,
    BucketView,
    LookupView,
    MultisetView,
    PackedView,
    PaneView,
    PartialView,
    RemoteView,
    SessionView,
    View,
)
from penstock.kit.spark_columns import quote_name
from penstock.kit.worker.bucket_lookup import look_up_rows
from penstock.kit.worker.bucket_multiset import fold_rows
from penstock.kit.worker.bucket_rows import answer_rows
from penstock.kit.worker.bucket_sessions import merge_sessions
from penstock.kit.worker.computed_views import bucket_view, packed_view, pane_view, partial_view
from penstock.runtime.connectors import lookup_of


def compute_frame(
    spark: SparkSession, view: PackedView | PartialView | PaneView | BucketedView | RemoteView
) -> DataFrame:
    """The view's rows."""
    match view:
        case PackedView():
            return packed_view(spark, view.source, view.length, view.cuts, view.schema)
        case PartialView():
            asked = (view.sql, view.given, view.kept, view.schema)
            return partial_view(spark, view.source, view.length, view.cuts, *asked)
        case PaneView():
            return pane_view(spark, view.source, order=view.order, **_asked(view))
        case BucketView():
            state, timeout = "remembered BINARY, waiting BINARY", "EventTimeTimeout"
            facts = {"order": view.order, "time": view.time, "back": view.back, "only": view.only, **_asked(view)}
            return bucket_view(spark, view.source, answer_rows, state, timeout, **facts)
        case LookupView():
            facts = {"newest": view.newest, **_asked(view)}
            return bucket_view(spark, view.source, look_up_rows, "records BINARY", "NoTimeout", **facts)
        case MultisetView():
            return bucket_view(
                spark, view.source, fold_rows, "counted BINARY", "NoTimeout", fold=view.fold, **_asked(view)
            )
        case SessionView():
            facts = {"merge": view.merge, **_asked(view)}
            return bucket_view(spark, view.source, merge_sessions, "sessions BINARY", "EventTimeTimeout", **facts)
        case RemoteView():
            return lookup_of(view).frame(spark)
        case _:
            assert_never(view)


def observe_view(spark: SparkSession, view: View) -> DataFrame:
    """The rows of a view of Spark SQL, with its watermark. Its metrics are observed on them."""
    rows = spark.sql(view.sql)
    if view.watermark is not None:
        rows = rows.withWatermark(quote_name(view.watermark.column), f"{view.watermark.delay} milliseconds")
    return (
        rows.observe(view.name, *(F.expr(each.sql).alias(each.name) for each in view.metrics)) if view.metrics else rows
    )


def _asked(view: PaneView | BucketedView) -> dict[str, Any]:
    """What DuckDB is asked last, and what is made of its answer."""
    facts = {"sql": view.sql, "given": view.given, "kept": view.kept, "picked": dict(view.picked)}
    return {**facts, "schema": view.schema}
