"""A checkpoint -> the watermark in force and the micro-batch's number, for a view.

Its modules are pickled by value, because the workers of a cluster have pyspark but not penstock.
"""

from __future__ import annotations

import sys

from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

from penstock.codegen.ejected.clock import clock_rows
from penstock.codegen.ejected.watermark import watermark_of


def clock(spark: SparkSession, checkpoint: str) -> DataFrame:
    """One row, whose `watermark` is that of the micro-batch in which it is read, and `batch` the number of this."""
    for each in (clock_rows, watermark_of):
        cloudpickle.register_pickle_by_value(sys.modules[each.__module__])  # type: ignore[no-untyped-call]
    return clock_rows(spark, checkpoint)
