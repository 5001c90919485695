"""The rows of a table of Delta Lake as they come, as a data source of Spark: one version, then what later ones change.

An offset is a version of the table. The feed gives what each version has inserted and deleted; an update deletes the
row as it was and inserts it as it is. So a micro-batch that runs again reads the same changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxFiles, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from penstock.kit.databases.faults import TABLE_ERROR, TableError
from penstock.kit.databases.retries import TransientError
from penstock.kit.databases.secret_refs import SecretRef
from penstock.kit.delta.delta_table import (
    CHANGE_FEED,
    DeltaTarget,
    check_delta_columns,
    delta_faults,
    require_delta,
)

FORMAT = "penstock_delta"
"""What Spark calls the data source."""
OPTION = "feed"
VERSION, STEP, ARRIVED, DELETES = "_revision", "_step", "_arrived", "_tombstone"
"""Beside the columns of a row: its version, 0 for what the version deletes and 1 for what it inserts, its time, and
whether it deletes the row.
"""
PARTS = 8
"""At most so many partitions of a micro-batch."""
CHANGE_TYPE = "_change_type"


@dataclass(frozen=True)
class FeedPlace:
    """What is read. `id`: the id of the table. `first`: the version whose rows come before all changes, if there is
    one.

    after: the version whose changes were the last not to be read. versions: at most so many in one micro-batch.
    """

    target: DeltaTarget
    id: str
    first: int | None
    after: int
    versions: int | None = None

    def write(self) -> str:
        """The place as an option of the data source. There is no secret in it."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> FeedPlace:
        """The place that `write` has written."""
        values = json.loads(text)
        target = values.pop("target")
        if target["secret_key"] is not None:
            target["secret_key"] = SecretRef(**target["secret_key"])
        return cls(DeltaTarget(**target), **values)


@dataclass
class FeedPart(InputPartition):
    """The changes of some versions, both included; or the rows of one version."""

    begin: int
    end: int
    is_whole: bool = False


class DeltaFeed(DataSource):
    """The data source."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def streamReader(self, schema: StructType) -> FeedReader:
        return FeedReader(FeedPlace.read(self.options[OPTION]))


class FeedReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads the feed, in the process that plans micro-batches and in workers."""

    def __init__(self, place: FeedPlace) -> None:
        self._place = place
        self._last: int | None = None

    def prepareForTriggerAvailableNow(self) -> None:
        with send_errors(self._place.target):
            self._last = open_feed(self._place.target, self._place.id).version()

    def initialOffset(self) -> dict[str, int | str]:
        return write_offset(self._place, self._place.after)

    def getDefaultReadLimit(self) -> ReadLimit:
        versions = self._place.versions
        return super().getDefaultReadLimit() if versions is None else ReadMaxFiles(versions)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, int | str]:
        begin = max(start["version"], -1 if self._place.first is None else self._place.first - 1)
        with send_errors(self._place.target):
            last = open_feed(self._place.target, self._place.id).version() if self._last is None else self._last
            check_versions(self._place.target, last, begin)
        if isinstance(limit, ReadMaxFiles):
            last = min(last, begin + limit.max_files)
        return write_offset(self._place, last)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[FeedPart]:
        first, begin, last = self._place.first, start["version"] + 1, end["version"]
        parts = []
        if first is not None and begin <= first:
            parts, begin = [FeedPart(first, first, is_whole=True)], first + 1
        step = -(-(last - begin + 1) // PARTS)
        return parts + [FeedPart(at, min(at + step - 1, last)) for at in range(begin, last + 1, max(1, step))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, FeedPart)
        with send_errors(self._place.target):
            if partition.is_whole:
                yield from read_version(self._place.target, partition.begin)
            else:
                yield from read_changes(self._place.target, partition.begin, partition.end)


@contextmanager
def send_errors(target: DeltaTarget) -> Iterator[None]:
    """Raises LookupError in place of an error of the table: its text is what reaches the driver."""
    try:
        yield
    except (TableError, TransientError) as error:
        told = {"view": "", "table": target.path, "message": str(error), "hint": getattr(error, "hint", None)}
        raise LookupError(TABLE_ERROR + json.dumps({**told, "retries": 0, "seconds_retrying": 0})) from None


def write_offset(place: FeedPlace, version: int) -> dict[str, int | str]:
    """How far a query has read, as its checkpoint has it."""
    return {"table": place.id, "version": version}


def check_versions(target: DeltaTarget, newest: int, read: int) -> None:
    """Raises TableError if a query is to go on behind a version that is not there."""
    if newest < read:
        raise TableError("other", f"{target.place} has no version {read}: its newest is {newest}")


def open_feed(target: DeltaTarget, table: str) -> DeltaTable:
    """The newest version of the table. `table`: its id.

    Raises TableError: it is missing, has another id now, or cannot be read.
    """
    found = require_delta(target)
    if str(found.metadata().id) != table:
        raise TableError("other", f"{target.place} was made anew, or is another one")
    return found


def check_feed(found: DeltaTable, target: DeltaTarget) -> None:
    """Raises TableError if the table is not as it is declared, or keeps no feed of changes."""
    check_delta_columns(found, target)
    if found.metadata().configuration.get(CHANGE_FEED) != "true":
        message = f"{target.place} keeps no feed of its changes"
        raise TableError("other", message, f"set its property {CHANGE_FEED} to true, and read from the next version on")


def schema_of_feed(target: DeltaTarget) -> pa.Schema:
    """The columns of the feed."""
    beside = [(VERSION, pa.int64()), (STEP, pa.int32()), (ARRIVED, pa.timestamp("us", "UTC")), (DELETES, pa.bool_())]
    declared = [field.with_nullable(True) for field in target.arrow_schema()]
    return pa.schema([*declared, *(pa.field(*each) for each in beside)])


def read_version(target: DeltaTarget, version: int) -> Iterator[pa.RecordBatch]:
    """The rows of one version, as inserted by it.

    Raises TableError: its files are gone, or cannot be read; or a table has two rows of one key.
    """
    read = []
    with delta_faults(target):
        found = DeltaTable(target.uri, version=version, storage_options=target.read_options())
        at = pa.scalar(found.history(1)[0]["timestamp"], pa.timestamp("ms")).cast(pa.timestamp("us", "UTC"))
        for batch in pa.RecordBatchReader.from_stream(found.scan(columns=target.arrow_schema().names)):
            beside = {VERSION: pa.scalar(version, pa.int64()), STEP: pa.scalar(1, pa.int32())}
            beside |= {ARRIVED: at, DELETES: pa.scalar(False)}
            rows = fit_batch(batch, {name: pa.repeat(each, batch.num_rows) for name, each in beside.items()}, target)
            read.append(rows.select([VERSION, *target.key]))
            yield rows
    refuse_repeated_keys(read, target)


def read_changes(target: DeltaTarget, begin: int, end: int) -> Iterator[pa.RecordBatch]:
    """What some versions have inserted and deleted.

    Raises TableError if their log or files are gone or cannot be read. It is also raised if rows are deleted and
    the table is read as a stream, or if a version inserts two rows of one key.
    """
    inserted = []
    with delta_faults(target):
        found = DeltaTable(target.uri, storage_options=target.read_options())
        changes = found.load_cdf(starting_version=begin, ending_version=end)
        for batch in pa.RecordBatchReader.from_stream(changes):
            kinds = batch[CHANGE_TYPE].cast(pa.string())
            is_insert = pc.is_in(kinds, pa.array(["insert", "update_postimage"]))
            beside = {
                VERSION: batch["_commit_version"],
                STEP: is_insert.cast(pa.int32()),
                ARRIVED: batch["_commit_timestamp"].cast(pa.timestamp("us", "UTC")),
                DELETES: pc.invert(is_insert),
            }
            rows = fit_batch(batch, beside, target)
            if not target.key:
                refuse_deletes(rows, target)
            else:
                inserted.append(rows.filter(is_insert).select([VERSION, *target.key]))
            yield rows
    refuse_repeated_keys(inserted, target)


def fit_batch(batch: pa.RecordBatch, beside: Mapping[str, Any], target: DeltaTarget) -> pa.RecordBatch:
    """The columns of the feed in their order and types."""
    schema = schema_of_feed(target)
    arrays = [beside[name] if name in beside else batch[name] for name in schema.names]
    return pa.RecordBatch.from_arrays(
        [each.cast(type_) for each, type_ in zip(arrays, schema.types, strict=True)], schema=schema
    )


def refuse_deletes(rows: pa.RecordBatch, target: DeltaTarget) -> None:
    """Raises TableError if a row of a stream is deleted."""
    gone = rows.filter(rows[DELETES])
    if gone.num_rows:
        message = f"version {gone[VERSION][0].as_py()} of {target.place} deletes rows, and a stream cannot"
        raise TableError("other", message, "declare it as a TABLE with its PRIMARY KEY")


def refuse_repeated_keys(inserted: Sequence[pa.RecordBatch], target: DeltaTarget) -> None:
    """Raises TableError if a version inserts two rows of one key: nobody could say which is the newer one.

    `inserted`: the versions and the keys. Rows without a key are rejected later.
    """
    if not inserted or not target.key:
        return
    rows = pa.Table.from_batches(inserted).drop_null()
    counts = rows.group_by(rows.column_names).aggregate([([], "count_all")])
    repeated = counts.filter(pc.greater(counts["count_all"], 1))
    if repeated.num_rows:
        version = repeated[VERSION][0].as_py()
        raise TableError("key", f"version {version} of {target.place} inserts several rows of one key")
