"""connector = 'files' -> a stream of the rows of json, csv or parquet files, each file read once.

A record that does not fit the declared types has its text in `_malformed` and is for the reader to set aside. Every
field of a record is parsed, whether a query uses it or not, so that a record is malformed for all queries or for none.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamReader

from penstock.codegen.program import Input
from penstock.diagnostics.codes.running import R003, R005
from penstock.runtime.errors import RunError
from penstock.runtime.storage import Storage, absolute, committed

_ORIGIN = ("_metadata.file_path AS _file", "_metadata.file_modification_time AS _arrived")
# Within a part of a file the number grows from record to record; its upper bits, the number of the task, do not.
_PLACE = "STRUCT(_metadata.file_block_start AS part, MONOTONICALLY_INCREASING_ID() AS record) AS _place"
_PLACE_IN_PARQUET = "STRUCT(0L AS part, _metadata.row_index AS record) AS _place"
_MALFORMED = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_malformed"}


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
        RunError: a CSV header lacks a declared column.
    """
    path = absolute(str(dict(source.options)["path"]))
    names = committed(storage, path)
    if names is None:
        rows = _rows(spark, spark.read, source)
        # A query may have begun to write there since, and have left a part of its first micro-batch.
        names = committed(storage, path)
        if names is None:
            return rows.withColumn("_commit", F.lit(None).cast("bigint")) if source.ordered else rows
    places = spark.createDataFrame(list(enumerate(names)), "_commit BIGINT, _name STRING")
    rows = _rows(spark, spark.read, source).withColumn("_name", F.substring_index("_file", "/", -1))
    rows = rows.join(F.broadcast(places), "_name").drop("_name")
    return rows if source.ordered else rows.drop("_commit")


def _rows(spark: SparkSession, reader: DataStreamReader | DataFrameReader, source: Input) -> DataFrame:
    options = dict(source.options)
    reader = reader.option("recursiveFileLookup", True)
    path = absolute(str(options["path"]))
    match options["format"]:
        case "json":
            return _json(reader, path, source)
        case "csv":
            return _csv(spark, reader, path, source)
        case "parquet":
            rows = reader.schema(_schema(source.columns)).parquet(path)
            origin = _origin(source, _PLACE_IN_PARQUET)
            return rows.selectExpr(*_declared(source), "CAST(NULL AS STRING) AS _malformed", *origin)
        case other:
            raise AssertionError(f"codegen let the format {other} through")


def _json(reader: DataStreamReader | DataFrameReader, path: str, source: Input) -> DataFrame:
    # Spark's own JSON source parses only the fields that a query uses and cannot count records alone.
    lines = reader.text(path).where("length(trim(value)) > 0")
    schema = _schema((*source.columns, ("_malformed", "STRING")))
    parsed = lines.select(F.from_json("value", schema, _MALFORMED).alias("record"), "value", "_metadata")
    fields = [f"record.{_quoted(name)}" for name, _ in source.columns]
    return parsed.selectExpr(*fields, "IF(record IS NULL, value, record._malformed) AS _malformed", *_origin(source))


def _csv(spark: SparkSession, reader: DataStreamReader | DataFrameReader, path: str, source: Input) -> DataFrame:
    options = dict(source.options)
    columns = source.columns
    reader = reader.options(columnPruning=False, **_MALFORMED)
    if "null" in options:
        reader = reader.option("nullValue", options["null"])
    if options.get("header", True):
        columns = _columns_of_header(spark, path, source)
        reader = reader.options(header=True, enforceSchema=False)
    rows = reader.schema(_schema((*columns, ("_malformed", "STRING")))).csv(path)
    # By itself Spark converts only the fields that a query uses, and refuses to read `_malformed` alone.
    all_fields = F.max(F.hash(*(_quoted(name) for name, _ in source.columns))).alias("read")
    return (
        rows.selectExpr("*", *_origin(source))
        .observe(f"{source.view} read", all_fields)
        .selectExpr(*_declared(source), "_malformed", "_file", "_arrived", *(["_place"] if source.ordered else []))
    )


def _origin(source: Input, place: str = _PLACE) -> tuple[str, ...]:
    """What is known of where a record is from."""
    return (*_ORIGIN, place) if source.ordered else _ORIGIN


def _columns_of_header(spark: SparkSession, path: str, source: Input) -> tuple[tuple[str, str], ...]:
    """The columns in the order of the header, undeclared ones as STRING; as declared if there is no file yet."""
    files = spark.read.options(header=True, recursiveFileLookup=True)
    listed = files.format("text").load(path).inputFiles()
    if not listed:
        return source.columns
    present = files.csv(listed[0]).columns
    types = {name.lower(): type_ for name, type_ in source.columns}
    missing = [name for name, _ in source.columns if name.lower() not in {column.lower() for column in present}]
    if missing:
        raise RunError(
            R005.at(None, name=source.name, column=name).because(f"the columns of {listed[0]} are {', '.join(present)}")
            for name in missing
        )
    return tuple((name, types.get(name.lower(), "STRING")) for name in present)


def _declared(source: Input) -> list[str]:
    return [f"{_quoted(name)} AS {_quoted(name)}" for name, _ in source.columns]


def _schema(columns: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{_quoted(name)} {type_}" for name, type_ in columns)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
