"""Batches of rows -> a table of a database, each exactly once in effect.

A batch is one transaction: the fence, the ledger, the changes, the rejected rows. A transaction that fails for a reason
that may pass is rolled back and begun again. When the answer to COMMIT is lost, the ledger tells the next attempt.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa

from penstock.kit.databases.attempts import TableConnection
from penstock.kit.databases.batch_changes import Changes
from penstock.kit.databases.collations import check_collations
from penstock.kit.databases.counters import RowCounts, TableCounters
from penstock.kit.databases.faults import FAULT_HINTS, TableError
from penstock.kit.databases.found_table import FoundTable
from penstock.kit.databases.table_ledger import TableLedger
from penstock.kit.databases.target_table import TargetTable, check_table, create_table, find_null_key


@dataclass(frozen=True, slots=True)
class WritePolicy:
    """How batches are written.

    batch_size: rows of one statement. attempts: how often a transaction is tried. The pauses between attempts grow from
    backoff_ms to max_delay_ms, with jitter. rate_limit: rows of a second, None for no limit. keep_ledger: how many
    batches the ledger keeps. max_rejected: how many rows of a batch the database may refuse.
    """

    batch_size: int = 100_000
    attempts: int = 10
    backoff_ms: int = 200
    max_delay_ms: int = 30_000
    rate_limit: int | None = None
    keep_ledger: int = 1000
    max_rejected: int = 1000


class TableWriter:
    """Writes the batches of one query to one table. To be used by one thread at a time; counters may be read by any.

    `on_retry` is called before each pause with what has failed; an exception of it ends the attempts.
    """

    def __init__(
        self,
        table: TargetTable,
        query: str,
        policy: WritePolicy,
        on_retry: Callable[[str], None] | None = None,
    ) -> None:
        self.counters = TableCounters()
        self._table, self._policy, self._engine = table, policy, table.address.engine
        self._connection = TableConnection(table, policy, self.counters, on_retry)
        self._rejected = f"{query}_rejected"
        self._found: FoundTable | None = None
        self._ledger: TableLedger | None = None
        self._epoch = 0
        self._next_batch_at = 0.0

    def check(self) -> None:
        """Compares the declaration with the table, which is made if it is missing and `create` says so.

        Raises TableError.
        """
        self._connection.run(self._check)

    def open(self, query_id: str, sink: str) -> None:
        """Makes the ledger if it is missing, and takes the next epoch: earlier writers of this query are refused.

        Raises TableError.
        """
        ledger = TableLedger(self._engine, self._table.schema, query_id, sink)

        def take(connection: sa.Connection) -> int:
            if self._found is None:
                self._check(connection)
            if not self._engine.has_table(connection, self._table.schema, ledger.table.name):
                ledger.create(connection)
            return ledger.take_epoch(connection)

        self._epoch = self._connection.run(take)
        self._ledger = ledger

    def write(self, batch: int, digest: str, work: Callable[[Changes], None]) -> None:
        """Does `work` in one transaction with the ledger. A batch that the ledger knows by this digest is skipped.

        `work` is called again with new changes when the transaction begins again. `batch` counts from 0 and grows.

        Raises:
            TableError: the database does not take the batch.
            FencedError: another writer of this query has taken over.
            DivergedError: the ledger has this batch with another digest, or only newer ones.
        """
        assert self._ledger is not None, "open() comes before write()"
        self._wait_for_rate()
        began = time.monotonic()
        # RowCounts of a transaction whose COMMIT may have come through.
        unsure = RowCounts()

        def write_batch(connection: sa.Connection) -> RowCounts:
            nonlocal unsure
            if not self._begin_batch(connection, batch, digest):
                return unsure
            changes = self._start_changes(connection, batch, digest)
            work(changes)
            unsure = self._finish_batch(connection, changes, batch, digest)
            return unsure

        counts = self._connection.run(write_batch)
        seconds = time.monotonic() - began
        self._count(counts, seconds)

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def _check(self, connection: sa.Connection) -> None:
        table = self._table
        table.arrow_schema()
        found = self._engine.inspect(connection, table)
        if found is None and table.create:
            create_table(connection, table)
            found = self._engine.inspect(connection, table)
        if found is None:
            raise TableError("missing_table", f"there is no {table.place}", FAULT_HINTS["missing_table"])
        check_table(found, table)
        check_collations(connection, table)
        self._engine.check_privileges(connection, table, ["penstock_ledger", self._rejected])
        self._found = found

    def _begin_batch(self, connection: sa.Connection, batch: int, digest: str) -> bool:
        """Whether the batch is to be written."""
        assert self._ledger is not None
        self._engine.begin_batch(connection, batch)
        self._ledger.fence(connection, self._epoch)
        return not self._ledger.has_batch(connection, batch, digest)

    def _start_changes(self, connection: sa.Connection, batch: int, digest: str) -> Changes:
        assert self._found is not None
        operations = self._engine.start_operations(connection, self._table, self._found)

        def begin_again() -> None:
            connection.rollback()
            self._begin_batch(connection, batch, digest)

        policy = self._policy
        null_key = find_null_key(self._found, self._table)
        sizes = policy.batch_size, policy.max_rejected
        return Changes(connection, operations, self._table, *sizes, begin_again, null_key)

    def _finish_batch(self, connection: sa.Connection, changes: Changes, batch: int, digest: str) -> RowCounts:
        assert self._ledger is not None
        changes.write_rejected(self._rejected, batch)
        counts = changes.counts
        rows = counts.puts + counts.updates + counts.deletes
        self._ledger.add_batch(connection, batch, digest, self._epoch, rows, self._policy.keep_ledger)
        return counts

    def _count(self, counts: RowCounts, seconds: float) -> None:
        self.counters.add_batch(counts, seconds)
        if self._policy.rate_limit is not None:
            rows = counts.puts + counts.updates + counts.deletes
            self._next_batch_at = time.monotonic() - seconds + rows / self._policy.rate_limit

    def _wait_for_rate(self) -> None:
        """Pauses before a transaction, not inside of it, where rows would be locked meanwhile."""
        time.sleep(max(0.0, self._next_batch_at - time.monotonic()))
