"""The table ledger `penstock_ledger`. It says which batches of each query are written, and which writer may write."""

from datetime import UTC, datetime

import sqlalchemy as sa

from penstock.kit.databases.engine import DatabaseEngine
from penstock.kit.databases.faults import DivergedError, FencedError

EPOCH_BATCH = -1
"""The row of this batch has the epoch of the writer that may write."""


class TableLedger:
    """The rows of one query and sink. All methods run inside a transaction of the caller."""

    def __init__(self, engine: DatabaseEngine, schema: str | None, query_id: str, sink: str) -> None:
        self.table = sa.Table(
            "penstock_ledger",
            sa.MetaData(),
            sa.Column("query", engine.key_text, primary_key=True),
            sa.Column("sink", engine.key_text, primary_key=True),
            sa.Column("batch", sa.BigInteger, primary_key=True, autoincrement=False),
            sa.Column("digest", sa.Text),
            sa.Column("epoch", sa.BigInteger, nullable=False),
            sa.Column("rows", sa.BigInteger, nullable=False),
            sa.Column("written_at", sa.DateTime(timezone=True), nullable=False),
            schema=schema,
        )
        self._engine, self._query, self._sink = engine, query_id, sink
        columns = self.table.c
        self._mine = (columns.query == query_id) & (columns.sink == sink)

    def create(self, connection: sa.Connection) -> None:
        """Makes the table if it is missing."""
        self._engine.make_table(connection, self.table)

    def take_epoch(self, connection: sa.Connection) -> int:
        """The next epoch, which belongs to the caller from now on. Earlier writers are refused."""
        columns = self.table.c
        mine = self._mine & (columns.batch == EPOCH_BATCH)
        taken = self.table.update().where(mine).values(epoch=columns.epoch + 1, written_at=datetime.now(UTC))
        connection.execute(taken)
        epoch = self._find_epoch(connection)
        if epoch is None:
            epoch = 1
            self._add(connection, EPOCH_BATCH, None, epoch, 0)
        return epoch

    def fence(self, connection: sa.Connection, epoch: int) -> None:
        """Locks the epoch until the transaction ends.

        Raises FencedError if it is another one: a newer writer has begun.
        """
        columns = self.table.c
        # An update locks the row in all databases; DuckDB has no other lock.
        mine = self._mine & (columns.batch == EPOCH_BATCH) & (columns.epoch == epoch)
        connection.execute(self.table.update().where(mine).values(written_at=datetime.now(UTC)))
        if self._find_epoch(connection) != epoch:
            raise FencedError(f"another writer of {self._query} has taken over since epoch {epoch} of {self._sink}")

    def has_batch(self, connection: sa.Connection, batch: int, digest: str) -> bool:
        """Whether the batch is written already.

        Raises DivergedError: it was written with another digest, or is older than all batches in the ledger.
        """
        columns = self.table.c
        batches = sa.select(columns.batch, columns.digest).where(self._mine & (columns.batch >= max(batch, 0)))
        known = dict(connection.execute(batches.order_by(columns.batch)).all())
        if batch in known:
            if known[batch] != digest:
                raise DivergedError(f"batch {batch} of {self._query} was written to {self._sink} from other rows")
            return True
        if known:
            newest = max(known)
            raise DivergedError(f"{self._sink} has batch {newest} of {self._query}, and does not know batch {batch}")
        return False

    def add_batch(self, connection: sa.Connection, batch: int, digest: str, epoch: int, rows: int, kept: int) -> None:
        """Notes a written batch, and forgets batches before the newest `kept`."""
        self._add(connection, batch, digest, epoch, rows)
        columns = self.table.c
        old = self._mine & (columns.batch >= 0) & (columns.batch <= batch - kept)
        connection.execute(self.table.delete().where(old))

    def _find_epoch(self, connection: sa.Connection) -> int | None:
        """The epoch as this transaction has left it. Not all databases return it from an UPDATE."""
        columns = self.table.c
        found = connection.scalar(sa.select(columns.epoch).where(self._mine & (columns.batch == EPOCH_BATCH)))
        return None if found is None else int(found)

    def _add(self, connection: sa.Connection, batch: int, digest: str | None, epoch: int, rows: int) -> None:
        values = {"batch": batch, "digest": digest, "epoch": epoch, "rows": rows, "written_at": datetime.now(UTC)}
        connection.execute(self.table.insert().values(query=self._query, sink=self._sink, **values))
