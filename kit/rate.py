"""Generated rows."""

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

GENERATED = {"BIGINT": "value", "TIMESTAMP": "timestamp"}


def read_rate(spark: SparkSession, columns: Mapping[str, str], rows_per_second: int) -> DataFrame:
    """Numbered rows: a BIGINT column counts from 0, a TIMESTAMP column is the time."""
    rows = spark.readStream.format("rate").option("rowsPerSecond", rows_per_second).load()
    return rows.select(*(F.col(GENERATED[type_]).alias(name) for name, type_ in columns.items()))
