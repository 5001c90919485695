"""An Input -> a streaming DataFrame with its columns and what is known of each row's origin."""

from pyspark.sql import DataFrame, SparkSession

from penstock.codegen.program import Input
from penstock.runtime.sink_log import check_files
from penstock.runtime.sources import files, rate, stage
from penstock.runtime.storage import Storage, absolute
from penstock.runtime.sweep import list_finished


def check(storage: Storage, source: Input, place: str | None = None) -> None:
    """Raises RunError if what the input names is not there, or not whole. Cheap: no rows are read.

    `place`: the checkpoint folder of the query that reads it, None if it begins anew.
    """
    if source.connector == "files":
        files.check(storage, source)
    if source.connector == "files" or (source.connector == stage.INTERMEDIATE and place is not None):
        path = absolute(str(dict(source.options)["path"]))
        check_files(storage, path, set() if place is None else list_finished(storage, place, path))


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
        case stage.INTERMEDIATE:
            return stage.stream(spark, source)
        case other:
            raise AssertionError(f"codegen let the source {other} through")


__all__ = ["check", "stream"]
