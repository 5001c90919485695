"""connector = 'files' -> a folder of json, csv or parquet files, written by Spark's own file sink.

The sink keeps a log of the files that belong to finished batches, in `_spark_metadata`. Who reads the folder with Spark
or Penstock sees those files only, so each row once, also after a crash.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock.codegen import CSV_WRITER_OPTIONS
from penstock.codegen.program import QueryOutput
from penstock.diagnostics.codes.running import R014, R017
from penstock.runtime.errors import RunError
from penstock.runtime.storage import Storage, absolute

_TIMESTAMP = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"  # Spark's own default cuts microseconds off


class FilesSink:
    """Rows of an append query in files, or the changes of a table, each once."""

    def __init__(self, output: QueryOutput) -> None:
        self._name = output.name
        self._options = dict(output.options)
        self.path = absolute(str(self._options["path"]))

    def check(self, storage: Storage, checkpoint: str | None) -> None:
        """Refuses a folder that has batches which the checkpoint knows nothing of: Spark would skip ours in silence.

        None stands for a checkpoint that is new.

        Raises:
            RunError: the folder was written from another checkpoint, or it is a file.
        """
        if storage.is_file(self.path):
            raise RunError([R017.at(None, name=self._name, path=self.path)])
        begun = -1 if checkpoint is None else storage.newest(f"{checkpoint}/offsets")
        if storage.newest(f"{self.path}/_spark_metadata") > begun:
            hint = "remove the folder, or take another path"
            if checkpoint is not None:
                hint = "remove the folder, take another path, or give the --checkpoint that it was written from"
            raise RunError([R014.at(None, path=self.path).with_hint(hint)])

    def writer(self, rows: DataFrame) -> DataStreamWriter:
        writer = rows.writeStream.format(str(self._options["format"])).option("path", self.path)
        return writer.options(**self._format_options())

    def put(self, batch: DataFrame, number: int) -> None:
        """Writes the changes of a micro-batch; one that is run again after it was finished is known.

        Spark gives its file sink to append queries alone, because files cannot be updated. Changes can be appended.
        """
        spark = batch.sparkSession
        jvm: Any = spark._jvm
        execution = jvm.org.apache.spark.sql.execution
        formats = execution.datasources
        classes = {
            "json": formats.json.JsonFileFormat,
            "csv": formats.csv.CSVFileFormat,
            "parquet": formats.parquet.ParquetFileFormat,
        }
        format_ = classes[str(self._options["format"])]()
        options = {name: str(value) for name, value in self._format_options().items()}
        given = jvm.PythonUtils.toSeq([]), jvm.PythonUtils.toScalaMap(options)
        sinks = execution.streaming.sinks
        log = sinks.FileStreamSinkLog(1, spark._jsparkSession, f"{self.path}/_spark_metadata", jvm.scala.Option.empty())
        newest = log.getLatestBatchId()
        if newest.isDefined() and newest.get() >= number:
            # Spark insists on the state of every micro-batch, also where nothing is to be written.
            batch.write.format("noop").mode("overwrite").save()
            return
        sinks.FileStreamSink(spark._jsparkSession, self.path, format_, *given).addBatch(number, batch._jdf)

    def _format_options(self) -> dict[str, str | int | bool]:
        options: dict[str, str | int | bool] = {"timestampFormat": _TIMESTAMP, "ignoreNullFields": False}
        if self._options["format"] == "csv":
            options |= {**CSV_WRITER_OPTIONS, "header": self._options.get("header", True)}
        if "null" in self._options:
            options["nullValue"] = self._options["null"]
        return options
