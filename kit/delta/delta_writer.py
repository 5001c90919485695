"""Batches of rows -> a table of Delta Lake, each exactly once in effect.

A batch is one commit: its rows, and the ledger as application transactions of Delta Lake. These are numbers, which a
commit sets: the newest batch, the first 63 bits of its digest, and the epoch of the writer. A commit fails if another
one has set the same of them meanwhile, so a writer that was replaced writes nothing.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from penstock.kit.databases.counters import RowCounts, TableCounters
from penstock.kit.databases.faults import DivergedError, FencedError, TableError
from penstock.kit.databases.refused_records import record_of
from penstock.kit.databases.retries import Result, run_attempts
from penstock.kit.databases.spark_types import find_unfit, quote_identifier
from penstock.kit.delta.delta_table import (
    DeltaTarget,
    check_delta,
    check_delta_rows,
    delta_faults,
    describe_commit,
    open_delta,
    provide_delta,
)
from penstock.kit.tables.table_rows import delete_rows, list_order, put_rows

KEPT_NOTES = 1000
"""In how many of the newest commits a batch is looked for that is older than the last one."""
DELETES = "_penstock_deletes"
"""A column of the rows of a merge."""
REJECTED_COLUMNS = (
    ("query", "STRING", False),
    ("batch", "BIGINT", False),
    ("reason", "STRING", False),
    ("record", "STRING", False),
    ("rejected_at", "TIMESTAMP", False),
)


@dataclass(frozen=True, slots=True)
class DeltaPolicy:
    """How batches are written: how often a commit is tried, with pauses in between, and how many rows are set aside."""

    attempts: int = 10
    backoff_ms: int = 100
    max_delay_ms: int = 10_000
    max_rejected: int = 1000


@dataclass(frozen=True)
class RowsToDelta:
    """What the rows of a query do to the table. `order` and `operation` are as in `RowsToTable`."""

    kind: Literal["append", "put", "delete"]
    key: Sequence[str] = ()
    order: str | None = None
    operation: str | None = None

    def apply(self, changes: "DeltaChanges", rows: pa.Table, spark: SparkSession) -> None:
        """Changes the table by the rows of one micro-batch."""
        match self.kind:
            case "append":
                changes.append(rows)
            case "put":
                put_rows(changes, rows, self.key, list_order(rows, self.order), self.operation)
            case "delete":
                delete_rows(changes, rows, self.key)


class DeltaChanges:
    """The changes of one batch. They are collected, and become one commit. Keys are distinct."""

    def __init__(self, target: DeltaTarget, required: Collection[str], partitions: Collection[str], most: int) -> None:
        self.counts = RowCounts()
        self.null_key: Collection[str] = [name for name in target.key if name not in required]
        self.rejected: list[tuple[str, str]] = []
        self.appended: list[pa.Table] = []
        self.put: list[pa.Table] = []
        self.deleted: list[pa.Table] = []
        self._schema, self._key = target.arrow_schema(), target.key
        self._required, self._partitions, self._most = required, partitions, most
        self._place = target.place

    def append(self, rows: pa.Table) -> None:
        """Adds rows, whatever is there."""
        self.appended.append(self._fit(rows))
        self.counts.puts += self.appended[-1].num_rows

    def upsert(self, rows: pa.Table) -> None:
        """Puts rows in the place of the rows of their keys."""
        self.put.append(self._with_plain_zeros(self._fit(rows)))
        self.counts.puts += self.put[-1].num_rows

    def delete(self, keys: pa.Table) -> None:
        """Deletes the rows of these keys, as far as they are there."""
        if keys.num_rows:
            schema = pa.schema([self._schema.field(name).with_nullable(True) for name in self._key])
            rows = pa.table({}) if not self._key else self._with_plain_zeros(keys.select(self._key).cast(schema))
            self.deleted.append(rows)
            self.counts.deletes += keys.num_rows

    def reject(self, rows: Sequence[tuple[str, str]]) -> None:
        """Sets rows aside: for each the reason, and the row as JSON."""
        self.rejected += rows
        self.counts.rejected += len(rows)
        if self.counts.rejected > self._most:
            message = f"{self._place} refuses more than {self._most} rows of one batch: {self.rejected[-1][0]}"
            raise TableError("rejected", message)

    def _fit(self, rows: pa.Table) -> pa.Table:
        """The rows that the table can have. The others are set aside."""
        schema = pa.schema([field.with_nullable(True) for field in self._schema])
        rows = rows.select(schema.names).cast(schema)
        is_unfit = pa.repeat(False, rows.num_rows)
        for mask, reason in self._find_unfit(rows):
            lost = rows.filter(pc.and_not(mask, is_unfit)).slice(0, self._most + 1)
            self.reject([(reason, record_of(lost.slice(place, 1))) for place in range(lost.num_rows)])
            is_unfit = pc.or_(is_unfit, mask)
        return rows.filter(pc.invert(is_unfit))

    def _find_unfit(self, rows: pa.Table) -> Iterator[tuple[pa.Array, str]]:
        """Which rows the table cannot have, as a mask, and why."""
        for name in rows.column_names:
            if name in self._required and rows[name].null_count:
                yield pc.is_null(rows[name]), f"{name} is NULL"
            if name in self._partitions and pa.types.is_string(rows.schema.field(name).type):
                yield pc.fill_null(pc.equal(rows[name], ""), False), f"{name} is '', which partitions do not have"
        for mask, reason in find_unfit((), rows):
            yield pc.fill_null(mask, False), reason

    def _with_plain_zeros(self, rows: pa.Table) -> pa.Table:
        """The rows with 0.0 in the place of -0.0 in their keys: for Spark these are one key."""
        for place, field in enumerate(rows.schema):
            if field.name in self._key and pa.types.is_floating(field.type):
                zero = pa.scalar(0, field.type)
                rows = rows.set_column(place, field, pc.add(rows[field.name], zero))
        return rows


class DeltaWriter:
    """Writes the batches of one query to one table. To be used by one thread at a time; counters may be read by any.

    `on_retry` is called before each pause with what has failed; an exception of it ends the attempts.
    """

    def __init__(
        self,
        target: DeltaTarget,
        query: str,
        policy: DeltaPolicy,
        on_retry: Callable[[str], None] | None = None,
        *,
        by_key: bool = False,
    ) -> None:
        self.counters = TableCounters()
        self._target, self._query, self._policy, self._on_retry = target, query, policy, on_retry
        self._by_key = by_key
        self._query_id = self._application = ""
        self._epoch = 0

    def check(self) -> None:
        """Compares the declaration with the table, which is made if it is missing and `create` says so.

        Raises TableError.
        """
        self._run(lambda: check_delta(provide_delta(self._target), self._target))

    def open(self, query_id: str, sink: str) -> None:
        """Takes the next epoch: earlier writers of this query are refused.

        Raises TableError.
        """
        self._query_id, self._application = query_id, f"penstock/{query_id}/{sink}"

        def take() -> int:
            table = provide_delta(self._target)
            check_delta(table, self._target)
            last = table.transaction_version(self._number("epoch"))
            if last is None and self._by_key:
                check_delta_rows(table, self._target)
            epoch = (last or 0) + 1
            commit = describe_commit({self._number("epoch"): epoch}, {"query": query_id, "sink": sink, "epoch": epoch})
            with delta_faults(self._target):
                table.create_write_transaction([], mode="append", schema=table.schema(), commit_properties=commit)
            return epoch

        self._epoch = self._run(take)

    def write(self, batch: int, digest: str, work: Callable[[DeltaChanges], None]) -> None:
        """Does `work` in one commit with the ledger. A batch that the ledger knows by this digest is skipped.

        `work` is called again with new changes when the commit begins again. `batch` counts from 0 and grows.

        Raises:
            TableError: the table does not take the batch.
            FencedError: another writer of this query has taken over.
            DivergedError: the ledger has this batch with another digest, or only newer ones.
        """
        assert self._application, "open() comes before write()"
        began = time.monotonic()
        # The counts of a commit whose answer may have been lost.
        unsure = RowCounts()

        def write_batch() -> RowCounts:
            nonlocal unsure
            table = self._load()
            if self._has_batch(table, batch, digest):
                return unsure
            partitions = table.metadata().partition_columns
            changes = DeltaChanges(self._target, self._list_required(table), partitions, self._policy.max_rejected)
            work(changes)
            self._write_rejected(changes, batch)
            unsure = changes.counts
            numbers = {self._application: batch, self._number("digest"): shorten_digest(digest)}
            numbers[self._number("epoch")] = self._epoch
            notes = {"query": self._query_id, "batch": batch, "digest": digest, "epoch": self._epoch}
            self._commit(table, changes, numbers, notes)
            return unsure

        counts = self._run(write_batch)
        self.counters.add_batch(counts, time.monotonic() - began)

    def close(self) -> None:
        """Nothing is open between two batches."""

    def _number(self, name: str) -> str:
        return f"{self._application}/{name}"

    def _run(self, attempt: Callable[[], Result]) -> Result:
        return run_attempts(attempt, self._target.place, self._policy, self.counters, self._on_retry)

    def _load(self) -> DeltaTable:
        table = open_delta(self._target)
        if table is None:
            raise TableError("missing_table", f"{self._target.place} is gone")
        return table

    def _list_required(self, table: DeltaTable) -> set[str]:
        """The columns that are NULL in no row."""
        declared = {name for name, _, nullable in self._target.columns if not nullable}
        return declared | {field.name for field in table.schema().fields if not field.nullable}

    def _has_batch(self, table: DeltaTable, batch: int, digest: str) -> bool:
        """Whether the batch is written already.

        Raises:
            FencedError: the epoch is another one.
            DivergedError: it was written with another digest, or the table has newer ones only.
        """
        place = self._target.place
        if table.transaction_version(self._number("epoch")) != self._epoch:
            raise FencedError(f"another writer of {self._query_id} has taken over since epoch {self._epoch} of {place}")
        last = table.transaction_version(self._application)
        if last is None or last < batch:
            return False
        if last == batch:
            known = table.transaction_version(self._number("digest"))
            if known == shorten_digest(digest):
                return True
            raise DivergedError(f"batch {batch} of {self._query_id} was written to {place} from other rows")
        if find_noted_digest(table, self._query_id, batch) == digest:
            return True
        raise DivergedError(f"{place} has batch {last} of {self._query_id}, and not this batch {batch}")

    def _commit(
        self, table: DeltaTable, changes: DeltaChanges, numbers: dict[str, int], notes: dict[str, object]
    ) -> None:
        """Writes what was collected, if there is anything."""
        commit = describe_commit(numbers, notes)
        appended = [rows for rows in changes.appended if rows.num_rows]
        with delta_faults(self._target):
            if appended:
                rows = complete_rows(pa.concat_tables(appended), table)
                write_deltalake(table, rows, mode="append", commit_properties=commit)
            merged = merge_source(changes, self._target)
            if merged is not None:
                names = [name for name, _, _ in self._target.columns]
                match = write_match(self._target.key)
                merger = table.merge(merged, match, "s", "t", commit_properties=commit)
                values = {quote_identifier(name): f"s.{quote_identifier(name)}" for name in names}
                merger = merger.when_matched_delete(f"s.{DELETES}").when_matched_update(values)
                merger.when_not_matched_insert(values, predicate=f"NOT s.{DELETES}").execute()

    def _write_rejected(self, changes: DeltaChanges, batch: int) -> None:
        """Appends the rejected rows to a table beside the target, once."""
        if not changes.rejected:
            return
        beside = f"{self._target.path.rstrip('/')}_rejected"
        target = replace(self._target, path=beside, columns=REJECTED_COLUMNS, key=(), create=True, partition_by=())
        table = provide_delta(target)
        check_delta(table, target)
        last = table.transaction_version(self._application)
        if last is not None and last >= batch:
            return
        now = datetime.now(UTC)
        values = [(self._query, batch, reason, record, now) for reason, record in changes.rejected]
        columns = [list(column) for column in zip(*values, strict=True)]
        notes: dict[str, object] = {"query": self._query_id, "batch": batch}
        with delta_faults(target):
            rows = pa.table(columns, schema=target.arrow_schema())
            commit = describe_commit({self._application: batch}, notes)
            write_deltalake(table, rows, mode="append", commit_properties=commit)


def shorten_digest(digest: str) -> int:
    """The first 63 bits of a SHA-256, as application transactions have numbers only."""
    return int(digest[:16], 16) >> 1


def find_noted_digest(table: DeltaTable, query_id: str, batch: int) -> str | None:
    """The digest that a commit notes of a batch, None if none of the newest ones does."""
    for commit in table.history(KEPT_NOTES):
        notes = commit.get("penstock")
        if isinstance(notes, dict) and (notes.get("query"), notes.get("batch")) == (query_id, batch):
            return str(notes.get("digest"))
    return None


def complete_rows(rows: pa.Table, table: DeltaTable) -> pa.Table:
    """The rows with all columns of the table, in its order. Columns that they lack are NULL."""
    schema = pa.schema(table.schema().to_arrow())
    columns = [
        rows[field.name] if field.name in rows.column_names else pa.nulls(rows.num_rows, field.type) for field in schema
    ]
    return pa.table(columns, schema=schema)


def merge_source(changes: DeltaChanges, target: DeltaTarget) -> pa.Table | None:
    """The rows that are put and deleted as the source of a merge, None if there are none."""
    schema = pa.schema([*(field.with_nullable(True) for field in target.arrow_schema()), (DELETES, pa.bool_())])
    parts = []
    for given, deletes in ((changes.put, False), (changes.deleted, True)):
        for rows in given:
            count = rows.num_rows if rows.num_columns else 1  # Arrow loses the number of rows without columns
            marked = {DELETES: pa.repeat(deletes, count)}
            values = {name: rows[name] for name in rows.column_names} | marked
            columns = [values.get(field.name, pa.nulls(count, field.type)) for field in schema]
            parts.append(pa.table(columns, schema=schema))
    whole = pa.concat_tables(parts) if parts else None
    return whole if whole is not None and whole.num_rows else None


def write_match(key: Sequence[str]) -> str:
    """The condition that two rows have the same key.

    Not by `=`: delta-rs then derives a range of keys, reads NaN in it as a name, and misses commits of others with
    decimals in that range.
    """
    columns = map(quote_identifier, key)
    return " AND ".join(f"t.{column} IS NOT DISTINCT FROM s.{column}" for column in columns) or "TRUE"
