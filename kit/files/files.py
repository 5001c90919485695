"""Folders of JSON, CSV or Parquet files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamReader, DataStreamWriter

from penstock.kit.files.csv_files import CSV_WRITER_OPTIONS, csv_rows, header_of, list_files, match_header
from penstock.kit.files.folder_names import list_folder_columns
from penstock.kit.files.openable_files import pattern_of_names
from penstock.kit.spark_columns import quote_name


def read_files(
    spark: SparkSession,
    path: str,
    columns: Sequence[str],
    files_per_batch: int | None = None,
    order: Callable[[DataStreamReader], Any] | None = None,
    **parts: Any,
) -> DataFrame:
    """New files of a folder; `columns` and `parts` as of `file_rows`.

    `order`: makes a reader that puts them in order, where a micro-batch takes a part of them.
    """
    # Spark by itself ignores files that are a week older than the newest one.
    reader = spark.readStream.option("maxFileAge", "36500d")
    if files_per_batch is not None:
        reader = reader.option("maxFilesPerTrigger", files_per_batch)
    return file_rows(spark, reader if order is None else order(reader), path, columns, **parts)


def file_rows(
    spark: SparkSession,
    reader: Any,
    path: str,
    columns: Sequence[str],
    read: Callable[..., DataFrame],
    steps: Iterable[Sequence[str]],
    items: Sequence[str],
    malformed: str,
    place: str | None = None,
    known: Sequence[str] = (),
    folders: Sequence[str] = (),
    **options: Any,
) -> DataFrame:
    """The columns of records, with what is malformed in `_malformed`, and each record's `_file` and its `_arrived`.

    `read` reads files of a format. `steps`, `items` and `malformed` are SQL that makes columns of a record, whose text
    is in `value`, and of what else is `known` of its file. With a `place`, SQL that grows from record to record of a
    file, it is in `_place`. Names of folders may have values of the columns `folders`.
    """
    origin = ["_metadata.file_path AS _file", "_metadata.file_modification_time AS _arrived", *known]
    if place is not None:
        origin.append(f"{place} AS _place")
    reader = reader.option("recursiveFileLookup", True).option("pathGlobFilter", pattern_of_names(spark, path))
    rows = read(spark, reader, path, columns, origin, folders, **options)
    for step in steps:
        rows = rows.selectExpr("*", *step)
    kept = ["_file", "_arrived"] if place is None else ["_file", "_arrived", "_place"]
    return rows.selectExpr(*items, malformed, *kept)


def read_json(
    spark: SparkSession, reader: Any, path: str, columns: Sequence[str], origin: Iterable[str], folders: Sequence[str]
) -> DataFrame:
    """The lines of JSON files."""
    # Most lines begin with no blank, which is quicker to see than that they are none.
    rows: DataFrame = reader.text(path).where("value >= '!' OR length(trim(value)) > 0").selectExpr("value", *origin)
    return rows


def read_parquet(
    spark: SparkSession,
    reader: Any,
    path: str,
    columns: Sequence[str],
    origin: Iterable[str],
    folders: Sequence[str],
    schema: str,
) -> DataFrame:
    """The columns of Parquet files; numbers as the files have them."""
    record = f"STRUCT({', '.join(map(quote_name, columns))}) AS _record"
    rows: DataFrame = reader.schema(schema).parquet(path).selectExpr(record, *origin)
    return rows


def read_csv(
    spark: SparkSession,
    reader: Any,
    path: str,
    columns: Sequence[str],
    origin: Iterable[str],
    folders: Sequence[str],
    header: bool = True,
    multi_line: bool = True,
) -> DataFrame:
    """The records of CSV files, and their fields. The files lack the columns that `folders` have values of.

    Raises:
        MissingColumnsError: the header of the files lacks columns.
    """
    if not header:
        file = next(iter(list_files(spark, path)), path)
        elsewhere = list_folder_columns(file, folders)
        fields = [name for name in columns if name not in elsewhere]
        return csv_rows(reader, path, fields, None, origin, multi_line, elsewhere)
    file, names = header_of(spark, path) or (path, list(columns))
    fields, missing = match_header(names, columns)
    elsewhere = [name for name in list_folder_columns(file, folders) if name not in fields]
    unknown = [name for name in missing if name not in elsewhere]
    if unknown:
        raise MissingColumnsError(file, names, unknown)
    return csv_rows(reader, path, fields, names, origin, multi_line, elsewhere)


class MissingColumnsError(Exception):
    """The header of `file` has other `names`, and lacks the columns `missing`."""

    def __init__(self, file: str, names: Sequence[str], missing: Sequence[str]) -> None:
        super().__init__(f"{file} has the columns {', '.join(names)}, and not {', '.join(missing)}")
        self.file, self.names, self.missing = file, names, missing


def write_files(rows: DataFrame, path: str, format: str, **options: Any) -> DataStreamWriter:
    """Files of a folder, each row exactly once for readers that know Spark's `_spark_metadata`."""
    writer = rows.writeStream.format(format).option("path", path)
    return writer.options(**options_of_files(format, **options))


def append_changes(batch: DataFrame, number: int, path: str, format: str, **options: Any) -> None:
    """Writes the changes of a micro-batch; one that is run again after it was finished is known.

    Spark gives its file sink to append queries alone, because files cannot be updated. Changes can be appended.
    """
    spark: Any = batch.sparkSession
    jvm, session = spark._jvm, spark._jsparkSession
    execution, python = jvm.org.apache.spark.sql.execution, jvm.PythonUtils
    formats = execution.datasources
    classes = {"json": formats.json.JsonFileFormat, "csv": formats.csv.CSVFileFormat}
    written = classes.get(format, formats.parquet.ParquetFileFormat)()
    texts = {name: str(value) for name, value in options_of_files(format, **options).items()}
    sinks = execution.streaming.sinks
    log = sinks.FileStreamSinkLog(1, session, f"{path}/_spark_metadata", jvm.scala.Option.empty())
    newest = log.getLatestBatchId()
    if newest.isDefined() and newest.get() >= number:
        # Spark insists on the state of every micro-batch, also where nothing is to be written.
        batch.write.format("noop").mode("overwrite").save()
        return
    given = python.toSeq([]), python.toScalaMap(texts)
    sinks.FileStreamSink(session, path, written, *given).addBatch(number, batch._jdf)


def options_of_files(format: str, header: bool = True, null: str | None = None) -> Mapping[str, Any]:
    """Spark's own form of times cuts microseconds off. In the pattern XXX stands for the offset from UTC."""
    options = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX", "ignoreNullFields": False}
    if format == "csv":
        options |= {**CSV_WRITER_OPTIONS, "header": header}
    return options if null is None else options | {"nullValue": null}
