"""Folders of json, csv or parquet files, each read once and written by Spark's own file sink.

A record that does not fit the declared types has its text in `_malformed` and is for the reader to set aside. Every
field of a record is parsed, whether a query uses it or not, so that a record is malformed for all queries or for none.

The sink keeps a log of the files that belong to finished batches, in `_spark_metadata`. Who reads the folder with Spark
or Penstock sees those files only, so each row once, also after a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock.codegen.program import Input, QueryOutput, SparkQuery
from penstock.codegen.record_parsing import Parsing
from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.running import R003, R005, R014, R017
from penstock.kit.files.files import (
    MissingColumnsError,
    append_changes,
    file_rows,
    read_csv,
    read_files,
    read_json,
    read_parquet,
    write_files,
)
from penstock.kit.files.ordered_files import OrderedReader
from penstock.rows import Row
from penstock.runtime.checkpoint.sink_log import LOG, LogFiles, check_files, check_log, list_committed, rows_folder
from penstock.runtime.checkpoint.storage import Storage, absolute
from penstock.runtime.checkpoint.sweep import list_finished
from penstock.runtime.checkpoint.written_files import check_removable, claim_folder, release_folder, remove_written
from penstock.runtime.connectors.protocol import RuntimeConnector, RuntimeSink, RuntimeSource
from penstock.runtime.failure.errors import BEGIN_ANEW, RunError
from penstock.runtime.failure.failures import SPARK_ERRORS
from penstock.runtime.progress.seen_fields import observe_fields
from penstock.runtime.query.file_names import NameWatch

_READERS: dict[str, Callable[..., DataFrame]] = {"json": read_json, "csv": read_csv, "parquet": read_parquet}


class FilesSource(RuntimeSource):
    """The declared columns, `_malformed`, `_file` and `_arrived` of each record. An ordered input also has `_place`."""

    def __init__(self, source: Input) -> None:
        self._source = source
        self._path = absolute(str(source.folder))
        self._names: NameWatch | None = None

    def check(self, storage: Storage, place: str | None) -> None:
        """Raises RunError if the path, or all that its glob pattern stands for, is missing, or a file is damaged."""
        if not storage.find_matching(self._path):
            raise RunError([R003.at(None, name=self._source.name, path=self._path)])
        check_files(storage, self._path, set() if place is None else list_finished(storage, place, self._path))
        self._names = NameWatch(self._source.name, storage, self._path)

    @property
    def is_watched(self) -> bool:
        return self._names is not None and self._names.is_on_disk

    def inspect(self) -> Sequence[Diagnostic]:
        """Files that are passed over for their names."""
        assert self._names is not None, "an input is checked before it is inspected"
        return self._names.inspect()

    @property
    def reads_files(self) -> bool:
        return True

    def stream(self, spark: SparkSession) -> DataFrame:
        """Raises RunError if a CSV header lacks a declared column."""
        limit = self._source.values.get("files_per_batch")
        order = None if limit is None else OrderedReader
        watch = self._parsing.watch
        items = () if watch is None else [watch.item]
        rows = self._read(read_files, spark, items, files_per_batch=limit, order=order)
        return observe_fields(rows, self._source, watch)

    def snapshot(self, spark: SparkSession, storage: Storage, held: Sequence[Row]) -> DataFrame:
        """An ordered input has `_commit`, too: the place of its file among the files of all micro-batches, else NULL.

        From a folder that a query writes, the whole micro-batches that it has written are read.

        Raises:
            RunError: a CSV header lacks a declared column, or the log of such a folder is damaged.
        """
        names = list_committed(storage, self._path)
        if names is None:
            rows = self._read(file_rows, spark, reader=spark.read)
            # A query may have begun to write there since, and have left a part of its first micro-batch.
            names = list_committed(storage, self._path)
            if names is None:
                return rows.withColumn("_commit", F.lit(None).cast("bigint")) if self._source.ordered else rows
        places = spark.createDataFrame(list(enumerate(names)), "place BIGINT, name STRING").alias("log")
        rows = self._read(file_rows, spark, reader=spark.read).alias("read")
        rows = rows.join(F.broadcast(places), F.expr("substring_index(read._file, '/', -1) = log.name"))
        return rows.selectExpr("read.*", *(["log.place AS _commit"] if self._source.ordered else []))

    @property
    def _parsing(self) -> Parsing:
        assert self._source.parsing is not None, "codegen parses the records of files"
        return self._source.parsing

    def _read(
        self, read: Callable[..., DataFrame], spark: SparkSession, items: Sequence[str] = (), **given: Any
    ) -> DataFrame:
        """The columns, and the `items`, which are SQL, too."""
        source, values = self._source, self._source.values
        records = self._parsing.records
        assert records is not None, "codegen parses the records of files"
        of_format: dict[str, Any] = {
            "csv": {"header": values["header"], "multi_line": values["multi_line"]},
            "parquet": {"schema": records.schema},
        }
        try:
            return read(
                spark,
                path=self._path,
                columns=[name for name, _ in source.columns],
                read=_READERS[str(values["format"])],
                steps=records.steps,
                items=[*records.items, *items],
                malformed=records.malformed,
                place=records.place if source.ordered else None,
                known=records.origin,
                folders=records.folders,
                **of_format.get(str(values["format"]), {}),
                **given,
            )
        except MissingColumnsError as error:
            file = unquote(error.file).removeprefix("file://")
            reason = f"the columns of {file} are {', '.join(error.names)}"
            found = [R005.at(None, name=source.name, column=name).because(reason) for name in error.missing]
            raise RunError(found) from None


class FilesSink(RuntimeSink):
    """Rows of an append query in files, or the changes of a table, each once."""

    def __init__(self, query: SparkQuery) -> None:
        self._query = query
        self.path = absolute(str(query.output.folder))
        self._claimed: Storage | None = None

    def check(self, storage: Storage, place: str | None, finished: int) -> None:
        """Refuses a folder that has batches which the checkpoint knows nothing of: Spark would skip ours in silence.

        Raises:
            RunError: the folder was written from another checkpoint, or is damaged, or it is a file.
        """
        self.check_folder(storage, place)
        if place is not None:
            check_log(storage, self.path, finished)
            if self.path != rows_folder(place):  # there readers check what they have not read yet
                check_files(storage, self.path)

    def check_folder(self, storage: LogFiles, place: str | None) -> None:
        """Raises RunError if the folder is a file, or was written from another checkpoint."""
        if storage.is_file(self.path):
            raise RunError([R017.at(None, name=self._query.output.name, path=self.path)])
        begun = -1 if place is None else storage.newest(f"{place}/offsets")
        if storage.newest(f"{self.path}/{LOG}") > begun:
            hint = "add --overwrite, which removes these rows, or take another path"
            if begun >= 0:  # another path would be another query (R010), and a folder without its log is damaged (R052)
                hint = f"restore the newest checkpoint, or {BEGIN_ANEW}"
            elif place is not None:
                hint += ", or give the --checkpoint of the earlier run, if it had one"
            raise RunError([R014.at(None, path=self.path).with_hint(hint)])

    def check_removable(self, storage: Storage) -> None:
        """Raises RunError if the folder is a file, or other programs have written its rows, or another process does."""
        if storage.is_file(self.path):
            raise RunError([R017.at(None, name=self._query.output.name, path=self.path)])
        check_removable(storage, self.path)

    def remove_rows(self, storage: Storage) -> str | None:
        return self.path if remove_written(storage, self.path) else None

    def open(self, storage: Storage, place: str) -> None:
        storage.folder(self.path)
        if self.path != rows_folder(place):
            claim_folder(storage, self.path)
            self._claimed = storage

    def close(self) -> None:
        if self._claimed is not None:
            with suppress(*SPARK_ERRORS):  # where the JVM is gone, the note says that its process has ended
                release_folder(self._claimed, self.path)
            self._claimed = None

    def writer(self, rows: DataFrame) -> DataStreamWriter | None:
        return write_files(rows, self.path, **self._format()) if self._query.mode == "append" else None

    def write(self, batch: DataFrame, number: int) -> None:
        append_changes(batch, number, self.path, **self._format())

    def _format(self) -> dict[str, Any]:
        values = self._query.output.values
        return {"format": values["format"], "header": values["header"], "null": values.get("null")}


def folder_output(name: str, path: str, format: str, columns: tuple[tuple[str, str], ...]) -> QueryOutput:
    """A folder of files as an output."""
    return QueryOutput(name, "files", (("path", path), ("format", format)), columns)


CONNECTOR = RuntimeConnector(FilesSource, FilesSink)
