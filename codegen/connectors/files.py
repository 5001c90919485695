"""Folders of JSON, CSV or Parquet files, for ejected programs. They read and write as the runtime does."""

READ_FILES = '''
def read_files(spark, columns, path, format, header=True, null=None, files_per_batch=None, ordered=False):
    """New files of a folder, with what is malformed in `_malformed`, and each record's `_file` and its `_arrived`.

    If `ordered`, also `_place`, which grows from record to record of a file.
    """
    path = absolute(path)
    origin = ["_metadata.file_path AS _file", "_metadata.file_modification_time AS _arrived"]
    if ordered and format == "parquet":
        origin.append("STRUCT(0L AS part, _metadata.row_index AS record) AS _place")
    elif ordered:
        origin.append("STRUCT(_metadata.file_block_start AS part, MONOTONICALLY_INCREASING_ID() AS record) AS _place")
    declared = [f"{quoted(name)} AS {quoted(name)}" for name in columns]
    reader = spark.readStream.option("recursiveFileLookup", True).option("maxFileAge", "36500d")
    if files_per_batch is not None:
        reader = reader.option("maxFilesPerTrigger", files_per_batch)
    if format == "parquet":
        rows = reader.schema(schema(columns)).parquet(path)
        return rows.selectExpr(*declared, "CAST(NULL AS STRING) AS _malformed", *origin)
    lenient = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_malformed"}
    if format == "json":
        # As text, so that every field of a record is parsed, whether a query uses it or not.
        lines = reader.text(path).where("length(trim(value)) > 0")
        record = F.from_json("value", schema({**columns, "_malformed": "STRING"}), lenient)
        fields = [f"record.{quoted(name)} AS {quoted(name)}" for name in columns]
        malformed = "IF(record IS NULL, value, record._malformed) AS _malformed"
        parsed = lines.select(record.alias("record"), "value", "_metadata")
        return parsed.selectExpr(*fields, malformed, *origin)
    reader = reader.options(columnPruning=False, **lenient)
    if null is not None:
        reader = reader.option("nullValue", null)
    stored = columns
    if header:
        stored = columns_of_header(spark, path, columns)
        reader = reader.options(header=True, enforceSchema=False)
    rows = reader.schema(schema({**stored, "_malformed": "STRING"})).csv(path)
    # By itself Spark converts only the fields that a query uses, and refuses to read `_malformed` alone.
    all_fields = F.max(F.hash(*map(quoted, columns))).alias("read")
    rows = rows.selectExpr("*", *origin).observe(f"read {path}", all_fields)
    known = ["_malformed", "_file", "_arrived", "_place"] if ordered else ["_malformed", "_file", "_arrived"]
    return rows.selectExpr(*declared, *known)


def columns_of_header(spark, path, columns):
    """The columns in the order of the files, those that are not declared as STRING."""
    files = spark.read.options(header=True, recursiveFileLookup=True)
    listed = files.format("text").load(path).inputFiles()
    if not listed:
        return columns
    present = files.csv(listed[0]).columns
    missing = {name.lower() for name in columns} - {name.lower() for name in present}
    if missing:
        raise SystemExit(f"{listed[0]} has no columns {', '.join(sorted(missing))}")
    types = {name.lower(): type_ for name, type_ in columns.items()}
    return {name: types.get(name.lower(), "STRING") for name in present}


def schema(columns):
    """Columns and their types as Spark reads them."""
    return ", ".join(f"{quoted(name)} {type_}" for name, type_ in columns.items())
'''

WRITE_FILES = '''
def write_files(rows, query, path, format, header=True, null=None):
    """Files of a folder, each row exactly once for readers that know Spark's `_spark_metadata`."""
    writer = rows.writeStream.format(format).option("path", absolute(path))
    return writer.options(**options_of_files(header, null))


def options_of_files(header, null):
    """Spark's own form of times cuts microseconds off. In the pattern XXX stands for the offset from UTC."""
    options = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX", "ignoreNullFields": False, "header": header}
    return options if null is None else options | {"nullValue": null}
'''

WRITE_CHANGES = '''
def write_changes(rows, query, path, format, header=True, null=None):
    """The changes of a table in files of a folder, by Spark's file sink, which it gives to append queries alone."""
    spark, path = rows.sparkSession, absolute(path)
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
