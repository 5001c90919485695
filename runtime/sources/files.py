"""connector = 'files' -> a stream of the rows of json, csv or parquet files, each file read once.

A record that does not fit the declared types has its text in `_malformed` and is for the reader to set aside. Every
field of a record is parsed, whether a query uses it or not, so that a record is malformed for all queries or for none.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamReader

from penstock.codegen import csv_rows, header_of, match_header, records_of
from penstock.codegen.program import Input
from penstock.diagnostics.codes.running import R003, R005
from penstock.runtime.errors import RunError
from penstock.runtime.sink_log import list_committed
from penstock.runtime.storage import Storage, absolute

_ORIGIN = ("_metadata.file_path AS _file", "_metadata.file_modification_time AS _arrived")
# Within a part of a file the number grows from record to record; its upper bits, the number of the task, do not.
_PLACE = "STRUCT(_metadata.file_block_start AS part, MONOTONICALLY_INCREASING_ID() AS record) AS _place"
_PLACE_IN_PARQUET = "STRUCT(0L AS part, _metadata.row_index AS record) AS _place"


def check(storage: Storage, source: Input) -> None:
    """Raises RunError if the path, or all that its glob pattern stands for, is missing."""
    path = absolute(str(dict(source.options)["path"]))
    if not storage.matches(path):
        raise RunError([R003.at(None, name=source.name, path=path)])


def stream(spark: SparkSession, source: Input) -> DataFrame:
    """The declared columns, `_malformed`, `_file` and `_arrived` of each record, of an ordered input `_place`.

    Raises:
        RunError: a CSV header lacks a declared column.
    """
    options = dict(source.options)
    # Spark by itself ignores files that are a week older than the newest one.
    reader = spark.readStream.option("maxFileAge", "36500d")
    if "files_per_batch" in options:
        reader = reader.option("maxFilesPerTrigger", options["files_per_batch"])
    return _rows(spark, reader, source)


def now(spark: SparkSession, storage: Storage, source: Input) -> DataFrame:
    """The same of what is there now, once; of a folder that a query writes the whole micro-batches that it has written.

    An ordered input has `_commit`, too: the place of the record's file among those of all micro-batches, else NULL.

    Raises:
        RunError: a CSV header lacks a declared column, or the log of such a folder is damaged.
    """
    path = absolute(str(dict(source.options)["path"]))
    names = list_committed(storage, path)
    if names is None:
        rows = _rows(spark, spark.read, source)
        # A query may have begun to write there since, and have left a part of its first micro-batch.
        names = list_committed(storage, path)
        if names is None:
            return rows.withColumn("_commit", F.lit(None).cast("bigint")) if source.ordered else rows
    places = spark.createDataFrame(list(enumerate(names)), "place BIGINT, name STRING").alias("log")
    rows = _rows(spark, spark.read, source).alias("read")
    rows = rows.join(F.broadcast(places), F.expr("substring_index(read._file, '/', -1) = log.name"))
    return rows.selectExpr("read.*", *(["log.place AS _commit"] if source.ordered else []))


def _rows(spark: SparkSession, reader: DataStreamReader | DataFrameReader, source: Input) -> DataFrame:
    options = dict(source.options)
    reader = reader.option("recursiveFileLookup", True)
    path = absolute(str(options["path"]))
    records = records_of(source)
    match options["format"]:
        case "json":
            rows = reader.text(path).where("length(trim(value)) > 0").selectExpr("value", *_origin(source))
        case "csv":
            rows = _csv(spark, reader, path, source)
        case "parquet":
            rows = reader.schema(records.schema).parquet(path)
            rows = rows.selectExpr(_struct(source), *_origin(source, _PLACE_IN_PARQUET))
        case other:
            raise AssertionError(f"codegen let the format {other} through")
    for step in records.steps:
        rows = rows.selectExpr("*", *step)
    origin = ("_file", "_arrived", "_place") if source.ordered else ("_file", "_arrived")
    return rows.selectExpr(*records.items, records.malformed, *origin)


def _csv(spark: SparkSession, reader: DataStreamReader | DataFrameReader, path: str, source: Input) -> Any:
    columns = [name for name, _ in source.columns]
    if not source.has_header:
        return csv_rows(reader, path, columns, None, _origin(source))
    file, header = header_of(spark, path) or (path, columns)
    fields, missing = match_header(header, columns)
    if missing:
        reason = f"the columns of {unquote(file).removeprefix('file://')} are {', '.join(header)}"
        raise RunError(R005.at(None, name=source.name, column=name).because(reason) for name in missing)
    return csv_rows(reader, path, fields, header, _origin(source))


def _struct(source: Input) -> str:
    """A record of Parquet: a struct of the declared columns."""
    return f"STRUCT({', '.join(_quoted(name) for name, _ in source.columns)}) AS _record"


def _origin(source: Input, place: str = _PLACE) -> tuple[str, ...]:
    """What is known of where a record is from."""
    return (*_ORIGIN, place) if source.ordered else _ORIGIN


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
