"""A Read -> its rows: what its inputs hold at this moment, evaluated at once, by Spark if they are not small.

From files that queries write, only whole micro-batches in the log of Spark's file sink are read. A micro-batch in that
log is never written again. Memory sinks also hold whole micro-batches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from pyspark.sql import SparkSession

from penstock.codegen.files_cost import files_settings
from penstock.codegen.program import Read
from penstock.rows import Row, Rows
from penstock.runtime.checkpoint.check_places import qualify_input
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.connectors import source_of
from penstock.runtime.failure.errors import RunError
from penstock.runtime.failure.failures import SPARK_ERRORS, explain
from penstock.runtime.local_reads import answer_locally
from penstock.runtime.query.active_session import activate
from penstock.runtime.query.query_sessions import apply_settings


def read(spark: SparkSession, query: Read, held: Mapping[str, Sequence[Row]]) -> Rows:
    """The rows of the answer. `held`: the rows of the tables that this process holds, by name. Times are in UTC.

    Raises:
        RunError: an input is not there, or cannot be read; or Spark fails.
    """
    spark = spark.newSession()
    storage = Storage(spark)
    try:
        small = answer_locally(query.local) if storage.is_this_machine() else None
        if small is not None:
            return small
        apply_settings(spark, dict(query.settings))
        apply_settings(spark, files_settings(query.inputs))
        for source in map(partial(qualify_input, storage), query.inputs):
            place = source_of(source)
            place.check(storage, None)
            place.snapshot(spark, storage, held.get(source.name, ())).createOrReplaceTempView(source.view)
        for view in query.views:
            spark.sql(view.sql).createOrReplaceTempView(view.name)
        with activate(spark):
            return Rows(spark.table(query.result).toArrow())
    except SPARK_ERRORS as error:
        raise RunError([explain(error, "the read", query.printed)]) from None
