"""An Input -> a streaming DataFrame with its columns and what is known of each row's origin."""

from pyspark.sql import DataFrame, SparkSession

from penstock.codegen.program import Input
from penstock.runtime.sources import files, rate, stage
from penstock.runtime.storage import Storage


def check(storage: Storage, source: Input) -> None:
    """Raises RunError if what the input names is not there. Cheap: nothing is read."""
    if source.connector == "files":
        files.check(storage, source)


def stream(spark: SparkSession, source: Input) -> DataFrame:
    """The rows of an input.

    Raises:
        RunError: the columns that are there do not fit those declared.
    """
    match source.connector:
        case "files":
            return files.stream(spark, source)
        case "rate":
            return rate.stream(spark, source)
        case stage.STAGE:
            return stage.stream(spark, source)
        case other:
            raise AssertionError(f"codegen let the source {other} through")


__all__ = ["check", "stream"]
