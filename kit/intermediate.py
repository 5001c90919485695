"""Intermediate streams: Parquet files in the checkpoint of the query that writes them."""

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from penstock.kit.spark_columns import schema_of


def read_intermediate(spark: SparkSession, columns: Mapping[str, str], path: str) -> DataFrame:
    """The rows that another query has written, each of its micro-batches as a whole."""
    # Spark by itself ignores files that are a week older than the newest one.
    return spark.readStream.option("maxFileAge", "36500d").schema(schema_of(columns)).parquet(path)
