"""What may be done to a table inside of the transaction of one batch. Rows that the database refuses are set aside."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from penstock.kit.databases.address import connect_database
from penstock.kit.databases.counters import RowCounts
from penstock.kit.databases.engine import DatabaseEngine
from penstock.kit.databases.faults import ConflictError, TableError
from penstock.kit.databases.operations import Operations
from penstock.kit.databases.refused_records import record_of
from penstock.kit.databases.target_table import TargetTable


class Changes:
    """The changes of one batch to one table, in one transaction.

    Rows are Arrow tables that have the key and any other columns of the declaration. Their keys are distinct.
    `null_key`: the columns of the key in which NULL is a value like any other, for upserts and deletes.
    """

    def __init__(
        self,
        connection: sa.Connection,
        operations: Operations,
        table: TargetTable,
        batch_size: int,
        max_rejected: int,
        begin_again: Callable[[], None],
        null_key: Collection[str] = (),
    ) -> None:
        self.counts = RowCounts()
        self.null_key = null_key
        self._connection, self._operations, self._table = connection, operations, table
        self._batch_size, self._max_rejected = batch_size, max_rejected
        self._begin_again = begin_again
        self._engine = table.address.engine
        self._done: list[tuple[Callable[[pa.Table], Any], pa.Table]] = []
        self._rejected: list[tuple[str, str]] = []

    def fetch(self, keys: pa.Table, columns: Sequence[str]) -> pa.Table:
        """The key and these columns of the rows that are there, in any order. They stay as they are meanwhile.

        Raises TableError (types): the table has a value that the declaration does not allow.
        """
        self.counts.gets += keys.num_rows
        keys = self._conform(keys.select(self._table.key))
        keys = keys.filter(pc.invert(self._unfit(keys)))
        found = [self._table.arrow_schema([*self._table.key, *columns]).empty_table()]

        def run(part: pa.Table) -> pa.Table:
            return self._operations.fetch(part, columns)

        for part in self._parts(keys):
            # What the database refuses as a key is not there.
            found += [rows for _, rows in self._apply(run, part, refuse=lambda rows, reason: None)]
        return pa.concat_tables(found)

    def upsert(self, rows: pa.Table) -> None:
        """Rows replace the rows of their key. Columns that `rows` lacks keep their value, or get their default."""
        for part in self._parts(self._fit(rows)):
            self.counts.puts += sum(done.num_rows for done, _ in self._apply(self._operations.upsert, part))

    def insert(self, rows: pa.Table) -> None:
        """Adds rows whose keys are not there. If another writer has added one since, the transaction begins again."""

        def run(part: pa.Table) -> None:
            if self._operations.insert(part) < part.num_rows:
                raise ConflictError(f"another writer has added rows to {self._table.place}")

        for part in self._parts(self._fit(rows)):
            self.counts.puts += sum(done.num_rows for done, _ in self._apply(run, part))

    def update(self, rows: pa.Table) -> pa.Table:
        """Sets the columns of the rows that are there. Gives the rows whose key is not there."""
        rows = self._conform(rows)
        absent = self._unfit(rows.select(self._table.key))
        missing = [rows.filter(absent)]
        for part in self._parts(self._fit(rows.filter(pc.invert(absent))), numbered=True):
            for done, numbers in self._apply(self._operations.update, part):
                missing.append(done.take(pa.array(numbers, pa.int64())))
                self.counts.updates += done.num_rows - len(numbers)
        return pa.concat_tables(missing)

    def add(self, rows: pa.Table, added: Collection[str]) -> tuple[pa.Table, pa.Table]:
        """As `update`, but what the rows have in the columns `added` is added. No row is set aside.

        Gives the rows whose key is not there, and the rows that the database refuses or cannot have.
        """
        rows = self._conform(rows)
        unfit = self._unfit(rows)
        missing, refused = [rows.slice(0, 0)], [rows.filter(unfit)]

        def run(part: pa.Table) -> Sequence[int]:
            return self._operations.update(part, added)

        for part in self._parts(rows.filter(pc.invert(unfit)), numbered=True):
            for done, numbers in self._apply(run, part, refuse=lambda row, reason: refused.append(row)):
                missing.append(done.take(pa.array(numbers, pa.int64())))
                self.counts.updates += done.num_rows - len(numbers)
        return pa.concat_tables(missing), pa.concat_tables(refused)

    def plan_sums(self, columns: Sequence[str]) -> pa.Schema | None:
        """The types of columns, None if the database cannot add to them as Spark does."""
        schema = self._table.arrow_schema(columns)
        return schema if self._operations.can_add(schema) else None

    def delete(self, keys: pa.Table) -> None:
        """Deletes the rows of these keys, as far as they are there."""
        if not self._table.key:  # Arrow loses the number of rows without columns
            parts: Iterable[pa.Table] = [keys] if keys.num_rows else []
        else:
            keys = self._conform(keys.select(self._table.key))
            parts = self._parts(keys.filter(pc.invert(self._unfit(keys))))
        for part in parts:
            self.counts.deletes += sum(done.num_rows for done, _ in self._apply(self._operations.delete, part))

    def reject(self, rows: Sequence[tuple[str, str]]) -> None:
        """Notes rows that are not written: the reason of each, and the row as JSON."""
        self._rejected += rows
        self.counts.rejected += len(rows)

    def write_rejected(self, name: str, batch: int) -> None:
        """Writes the rejected rows to a table beside the target, which is made if it is missing."""
        if not self._rejected:
            return
        table = describe_rejected(self._engine, name, self._table.schema)
        if not self._engine.has_table(self._connection, self._table.schema, name):
            self._make_table(table)
        now = datetime.now(UTC)
        # PostgreSQL has no texts with NUL.
        rows = [[text.replace("\0", "\\u0000") for text in row] for row in self._rejected]
        values = [{"batch": batch, "reason": reason, "record": record, "rejected_at": now} for reason, record in rows]
        self._connection.execute(table.insert(), values)

    def _make_table(self, table: sa.Table) -> None:
        """Makes a table, in another transaction if this one would end."""
        if not self._engine.commits_tables:
            self._engine.make_table(self._connection, table)
            return
        apart = connect_database(self._table.address, False)
        try:
            self._engine.make_table(apart, table)
        finally:
            apart.close()

    def _conform(self, rows: pa.Table) -> pa.Table:
        missing = [name for name in self._table.key if name not in rows.column_names]
        assert not missing, f"rows for {self._table.name} lack the key {missing}"
        return rows.cast(self._table.arrow_schema(rows.column_names))

    @property
    def _required_key(self) -> list[str]:
        return [name for name in self._table.key if name not in self.null_key]

    def _unfit(self, rows: pa.Table) -> pa.Array:
        """Which rows the database cannot have, as a mask."""
        mask = pa.repeat(False, rows.num_rows)
        for unfit, _ in self._engine.find_unfit(self._required_key, rows):
            mask = pc.or_(mask, pc.fill_null(unfit, False))
        return mask

    def _fit(self, rows: pa.Table) -> pa.Table:
        """The rows that the database may get. The others are set aside."""
        rows = self._conform(rows)
        for unfit, reason in list(self._engine.find_unfit(self._required_key, rows)):
            for row in rows.filter(unfit).slice(0, self._max_rejected + 1).to_batches(max_chunksize=1):
                self._refuse(pa.Table.from_batches([row]), reason)
        return rows.filter(pc.invert(self._unfit(rows)))

    def _parts(self, rows: pa.Table, numbered: bool = False) -> Iterator[pa.Table]:
        """The rows of each statement, in the order of their keys.

        So writers lock rows in the same order, and files are changed page by page.
        """
        if self._table.key and not grows(rows[self._table.key[0]].combine_chunks()):
            rows = rows.sort_by([(name, "ascending") for name in self._table.key])
        if rows.num_rows:
            self._operations.prepare(rows.column_names, numbered)
        for begin in range(0, rows.num_rows, self._batch_size):
            yield rows.slice(begin, self._batch_size)

    def _apply(
        self,
        run: Callable[[pa.Table], Any],
        rows: pa.Table,
        refuse: Callable[[pa.Table, str], None] | None = None,
    ) -> list[tuple[pa.Table, Any]]:
        """Runs a statement for the rows, and for each half of them if the database refuses some.

        Gives the rows that were taken, and the results.
        """
        savepoint = self._connection.begin_nested() if self._engine.has_savepoints else None
        try:
            result = run(rows)
        except Exception as error:
            fault = self._engine.find_fault(error)
            if fault is None or fault.action != "refuse":
                # The connection is of no more use: SQLite has ended the transaction if the disk is full.
                raise
            self._take_back(savepoint)
            if rows.num_rows == 1:
                (refuse or self._refuse)(rows, fault.text)
                return []
            half = rows.num_rows // 2
            return self._apply(run, rows.slice(0, half), refuse) + self._apply(run, rows.slice(half), refuse)
        if savepoint is not None:
            savepoint.commit()
        else:
            self._done.append((run, rows))
        return [(rows, result)]

    def _take_back(self, savepoint: sa.NestedTransaction | None) -> None:
        """Makes the transaction what it was before a statement. Without savepoints all that was done is done again."""
        if savepoint is not None:
            savepoint.rollback()
            return
        self._begin_again()
        for run, rows in self._done:
            run(rows)

    def _refuse(self, rows: pa.Table, reason: str) -> None:
        self.counts.refused += 1
        if self.counts.refused > self._max_rejected:
            message = f"{self._table.place} refuses more than {self._max_rejected} rows of one batch: {reason}"
            raise TableError("rejected", message)
        self.reject([(reason, record_of(rows))])


def grows(column: pa.Array) -> bool:
    """Whether each value is greater than the one before it."""
    return bool(pc.all(pc.less(column[:-1], column[1:]), skip_nulls=False).as_py())


def describe_rejected(engine: DatabaseEngine, name: str, schema: str | None) -> sa.Table:
    """The table of rejected rows."""
    return sa.Table(
        name,
        sa.MetaData(),
        sa.Column("batch", sa.BigInteger, nullable=False),
        sa.Column("reason", engine.long_text, nullable=False),
        sa.Column("record", engine.long_text, nullable=False),
        sa.Column("rejected_at", sa.DateTime(timezone=True), nullable=False),
        schema=schema,
    )
