"""Folders of JSON, CSV or Parquet files, for ejected programs. They read and write as the runtime does."""

import inspect
from pprint import pformat

from penstock.codegen.csv_files import (
    CSV_OPTIONS,
    CSV_WRITER_OPTIONS,
    csv_rows,
    header_of,
    match_header,
    whole_records,
)

READ_FILES = '''
def read_files(spark, columns, path, read, steps, items, malformed, files_per_batch=None, ordered=False, **options):
    """New files of a folder, with what is malformed in `_malformed`, and each record's `_file` and its `_arrived`.

    `read` reads files of a format; `steps`, `items` and `malformed` are SQL that makes columns of a record, whose text
    is in `value`. If `ordered`, also `_place`, which grows from record to record of a file.
    """
    path = absolute(spark, path)
    origin = ["_metadata.file_path AS _file", "_metadata.file_modification_time AS _arrived"]
    if ordered:
        place = "_metadata.file_block_start AS part, MONOTONICALLY_INCREASING_ID() AS record"
        if read.__name__ == "read_parquet":
            place = "0L AS part, _metadata.row_index AS record"
        origin.append(f"STRUCT({place}) AS _place")
    reader = spark.readStream.option("recursiveFileLookup", True).option("maxFileAge", "36500d")
    if files_per_batch is not None:
        reader = reader.option("maxFilesPerTrigger", files_per_batch)
    rows = read(spark, reader, path, columns, origin, **options)
    for step in steps:
        rows = rows.selectExpr("*", *step)
    known = ["_file", "_arrived", "_place"] if ordered else ["_file", "_arrived"]
    return rows.selectExpr(*items, malformed, *known)
'''


_READ_JSON = '''
def read_json(spark, reader, path, columns, origin):
    """The lines of JSON files."""
    return reader.text(path).where("length(trim(value)) > 0").selectExpr("value", *origin)
'''
_READ_PARQUET = '''
def read_parquet(spark, reader, path, columns, origin, schema):
    """The columns of Parquet files; numbers as the files have them."""
    record = f"STRUCT({', '.join(map(quoted, columns))}) AS _record"
    return reader.schema(schema).parquet(path).selectExpr(record, *origin)
'''
_READ_CSV = '''
def read_csv(spark, reader, path, columns, origin, header=True):
    """The records of CSV files, and their fields."""
    if not header:
        return csv_rows(reader, path, list(columns), None, origin)
    file, names = header_of(spark, path) or (path, list(columns))
    fields, missing = match_header(names, columns)
    if missing:
        raise SystemExit(f"{file} has the columns {', '.join(names)}, and not {', '.join(missing)}")
    return csv_rows(reader, path, fields, names, origin)
'''
_CSV_PARTS = (
    f"CSV_WRITER_OPTIONS = {pformat(CSV_WRITER_OPTIONS)}\nCSV_OPTIONS = {pformat(CSV_OPTIONS)}\n",
    inspect.getsource(whole_records),
    inspect.getsource(csv_rows),
    inspect.getsource(header_of),
    inspect.getsource(match_header),
    _READ_CSV,
)
FORMATS = {"json": (_READ_JSON,), "csv": _CSV_PARTS, "parquet": (_READ_PARQUET,)}
"""By format: what READ_FILES needs besides to read it, with the function `read_<format>`."""

WRITE_FILES = '''
def write_files(rows, query, path, format, header=True, null=None):
    """Files of a folder, each row exactly once for readers that know Spark's `_spark_metadata`."""
    writer = rows.writeStream.format(format).option("path", absolute(rows.sparkSession, path))
    return writer.options(**options_of_files(header, null))


def options_of_files(header, null):
    """Spark's own form of times cuts microseconds off. In the pattern XXX stands for the offset from UTC."""
    options = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX", "ignoreNullFields": False, "header": header}
    options |= {"quote": '"', "escape": '"', "ignoreLeadingWhiteSpace": False, "ignoreTrailingWhiteSpace": False}
    return options if null is None else options | {"nullValue": null}
'''

WRITE_CHANGES = '''
def write_changes(rows, query, path, format, header=True, null=None):
    """The changes of a table in files of a folder, by Spark's file sink, which it gives to append queries alone."""
    spark, path = rows.sparkSession, absolute(rows.sparkSession, path)
    options = {name: str(value) for name, value in options_of_files(header, null).items()}

    def put(batch, number):
        execution, python = spark._jvm.org.apache.spark.sql.execution, spark._jvm.PythonUtils
        formats = execution.datasources
        classes = {"json": formats.json.JsonFileFormat, "csv": formats.csv.CSVFileFormat}
        written = classes.get(format, formats.parquet.ParquetFileFormat)()
        empty, given = python.toSeq([]), python.toScalaMap(options)
        sinks, session = execution.streaming.sinks, spark._jsparkSession
        log = sinks.FileStreamSinkLog(1, session, f"{path}/_spark_metadata", spark._jvm.scala.Option.empty())
        newest = log.getLatestBatchId()
        if newest.isDefined() and newest.get() >= number:  # written before; Spark insists on the state
            batch.write.format("noop").mode("overwrite").save()
        else:
            sinks.FileStreamSink(session, path, written, empty, given).addBatch(number, batch._jdf)

    return rows.writeStream.foreachBatch(put)
'''
