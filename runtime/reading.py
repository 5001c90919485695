"""A Read -> its rows: what its inputs hold at this moment, evaluated by Spark at once.

Of files that queries write, only whole micro-batches are read: those in the log of Spark's file sink. A micro-batch in
that log is never written again. Memory sinks also hold whole micro-batches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from pyspark.sql import DataFrame, SparkSession

from penstock.codegen.program import COST_SETTING, Input, Read, files_cost
from penstock.runtime import sources
from penstock.runtime.errors import RunError
from penstock.runtime.failures import SPARK_ERRORS, explain
from penstock.runtime.places import qualify_input
from penstock.runtime.sources import files
from penstock.runtime.storage import Storage

Row = dict[str, Any]


def read(spark: SparkSession, query: Read, kept: Mapping[str, Sequence[Row]]) -> list[Row]:
    """The rows of the answer. `kept`: those of the tables in memory by name. Times are in UTC.

    Raises:
        RunError: an input is not there, or cannot be read; or Spark fails.
    """
    spark = spark.newSession()
    storage = Storage(spark)
    try:
        for name, value in (*query.settings, (COST_SETTING, str(files_cost(query.inputs)))):
            spark.conf.set(name, value)
        for source in map(partial(qualify_input, storage), query.inputs):
            if in_memory(source):
                rows = _in_memory(spark, source, kept[source.name])
            else:
                sources.check(storage, source)
                rows = files.now(spark, storage, source)
            rows.createOrReplaceTempView(source.view)
        for view in query.views:
            spark.sql(view.sql).createOrReplaceTempView(view.name)
        return cast("list[Row]", spark.table(query.result).toArrow().to_pylist(maps_as_pydicts="strict"))
    except SPARK_ERRORS as error:
        raise RunError([explain(error, "the read", query.printed)]) from None


def in_memory(source: Input) -> bool:
    """Whether the rows of the input are in this process."""
    return source.connector == "memory"


def _in_memory(spark: SparkSession, source: Input, rows: Sequence[Row]) -> DataFrame:
    names = [name for name, _ in source.columns]
    schema = ", ".join(f"`{name.replace('`', '``')}` {type_}" for name, type_ in source.columns)
    if source.ordered:
        schema += ", _place BIGINT"
    values = ((*(row[name] for name in names), place) for place, row in enumerate(rows))
    return spark.createDataFrame([each if source.ordered else each[:-1] for each in values], schema)
