"""Tables of Delta Lake, written and read through delta-rs: each micro-batch is one commit, which notes that as well."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.codegen.connectors.delta import LEDGER_SINK, list_delta_arguments, list_delta_place
from penstock.codegen.folders import folder_name
from penstock.codegen.program import Input, SparkQuery
from penstock.kit.databases.faults import TableError
from penstock.kit.databases.retries import TransientError
from penstock.kit.databases.secret_refs import SecretRef
from penstock.kit.delta.delta_feed import (
    ARRIVED,
    DELETES,
    FORMAT,
    OPTION,
    STEP,
    VERSION,
    DeltaFeed,
    FeedPlace,
    check_feed,
    check_versions,
    open_feed,
)
from penstock.kit.delta.delta_table import (
    DeltaTarget,
    check_delta_columns,
    delta_faults,
    read_delta,
    require_delta,
)
from penstock.kit.delta.delta_writer import DeltaPolicy, DeltaWriter, RowsToDelta
from penstock.kit.spark_columns import schema_of
from penstock.kit.tables.table_batches import TableBatches
from penstock.rows import Row
from penstock.runtime.checkpoint.checkpoint import STARTING
from penstock.runtime.checkpoint.spark_logs import offsets_of
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.connectors.protocol import RuntimeConnector, RuntimeSource
from penstock.runtime.connectors.table_sink import TableSink
from penstock.runtime.failure.errors import RunError, explain_unread


class DeltaSink(TableSink):
    """The rows of one query in a table of Delta Lake."""

    def __init__(self, query: SparkQuery) -> None:
        given = list_delta_arguments(query)
        target = make_target(given.target)
        policy, by_key = DeltaPolicy(**given.policy), query.change is not None
        writer = DeltaWriter(target, query.name, policy, self.note_retry, by_key=by_key)
        super().__init__(query, target.path, writer, TableBatches(writer, RowsToDelta(**given.changes), LEDGER_SINK))


class DeltaSource(RuntimeSource):
    """The rows of a table: the rows of its newest version, or the rows that versions insert and delete."""

    def __init__(self, source: Input) -> None:
        self._source = source
        columns = [(name, type_, True) for name, type_ in source.columns]
        place = {**list_delta_place(source), "columns": columns, "key": source.key}
        self._target = make_target(place)

    def check(self, storage: Storage, place: str | None) -> None:
        """Raises RunError if the table is missing or not as declared, or if changes are gone that are to be read."""
        with coded_reads(self._target):
            found = require_delta(self._target)
            check_delta_columns(found, self._target)
            if place is None or (noted := storage.read(note_of(self._source, place))) is None:
                return
            begin = json.loads(noted)
            found = open_feed(self._target, begin["id"])
            finished = storage.newest(f"{place}/commits")
            text = None if finished < 0 else storage.read(f"{place}/offsets/{finished}")
            offsets = {} if text is None else offsets_of(f"{place}/offsets/{finished}", text)
            read = find_versions(offsets.values(), begin["id"])
            check_next(found, self._target, min(read, default=begin["after"]))

    @property
    def packages(self) -> set[str]:
        return {"pyspark", "pyarrow", "pandas", "deltalake"}

    def settle(self, storage: Storage, place: str) -> Mapping[str, str]:
        """Notes in the checkpoint which table it is, and which version a query begins with."""
        path = note_of(self._source, place)
        noted = storage.read(path)
        if noted is None:
            with coded_reads(self._target):
                found = require_delta(self._target)
                check_feed(found, self._target)
                begin = find_start(str(self._source.values["starting"]), found, self._target)
            noted = json.dumps({"id": found.metadata().id, **begin})
            storage.publish(path, noted)
        return {"starting": noted}

    def stream(self, spark: SparkSession) -> DataFrame:
        spark.dataSource.register(DeltaFeed)
        source, begin = self._source, json.loads(str(self._source.values["starting"]))
        limit = source.values.get("versions_per_batch")
        versions = None if limit is None else int(str(limit))
        feed = FeedPlace(self._target, **begin, versions=versions)
        columns = {**dict(source.columns), VERSION: "BIGINT", STEP: "INT", ARRIVED: "TIMESTAMP", DELETES: "BOOLEAN"}
        rows = spark.readStream.format(FORMAT).schema(schema_of(columns)).option(OPTION, feed.write()).load()
        known = {"version": VERSION, "timestamp": ARRIVED}
        items = [F.col(known[key]).alias(name) for name, key in source.metadata]
        return rows.select("*", F.lit(None).cast("string").alias("_malformed"), *items)

    def snapshot(self, spark: SparkSession, storage: Storage, held: Sequence[Row]) -> DataFrame:
        with coded_reads(self._target):
            rows, _ = read_delta(self._target)
        return spark.createDataFrame(rows, schema_of(dict(self._source.columns)))


def note_of(source: Input, place: str) -> str:
    """The file of a checkpoint that says which table it is, and which version the query begins with."""
    return f"{place}/{STARTING}/{folder_name(source.name)}.json"


def find_start(starting: str, found: DeltaTable, target: DeltaTarget) -> dict[str, int | None]:
    """The version whose rows are read first, and the one after which changes are.

    Raises TableError: there is no such version.
    """
    newest = found.version()
    match starting:
        case "newest":
            return {"first": newest, "after": -1}
        case "latest":
            return {"first": None, "after": newest}
        case "earliest":
            return {"first": None, "after": -1}
        case _:
            check_versions(target, newest, int(starting))
            return {"first": None, "after": int(starting) - 1}


def find_versions(offsets: Iterable[Any], table: str) -> list[int]:
    """The versions of a table up to which the inputs of a query were read."""
    return [each["version"] for each in offsets if isinstance(each, dict) and each.get("table") == table]


def check_next(found: DeltaTable, target: DeltaTarget, read: int) -> None:
    """Raises TableError if the version that was read is not there, or the changes of the next one are gone."""
    check_versions(target, found.version(), read)
    if 0 <= read < found.version():
        with delta_faults(target):
            found.load_cdf(starting_version=read + 1, ending_version=read + 1)


@contextmanager
def coded_reads(target: DeltaTarget) -> Iterator[None]:
    """Raises RunError in place of an error of the table that an input reads."""
    try:
        yield
    except (TableError, TransientError) as error:
        raise RunError([explain_unread(target.path, str(error), getattr(error, "hint", None), None)]) from None


def make_target(arguments: dict[str, Any]) -> DeltaTarget:
    """The table. Its secret is named, and not read."""
    secret = arguments.get("secret_key")
    return DeltaTarget(**{**arguments, "secret_key": None if secret is None else SecretRef(secret.kind, secret.name)})


CONNECTOR = RuntimeConnector(DeltaSource, DeltaSink)
