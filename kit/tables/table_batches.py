"""Micro-batches of a query -> changes of a table that others own, each batch once."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from penstock.kit.tables.table_rows import delete_rows, list_order, put_rows
from penstock.kit.tables.table_updates import RowChanges, UpdateSums, update_rows


@dataclass(frozen=True)
class RowsToTable:
    """What the rows of a query do to the table. The fields are described in `TableChange` of Penstock's codegen.

    `view`: the name of the temporary view that `fold` reads. `complete`: each row of a key is put, not only the last.
    `fails`: a missing row ends the query.
    """

    kind: Literal["put", "update", "delete"]
    key: Sequence[str] = ()
    order: str | None = None
    operation: str | None = None
    assigned: Sequence[str] = ()
    inserted: Sequence[str] | None = None
    current: Sequence[str] = ()
    fold: str | None = None
    view: str = ""
    sums: UpdateSums | None = None
    complete: bool = False
    fails: bool = False

    def apply(self, changes: RowChanges, rows: pa.Table, spark: SparkSession) -> None:
        """Changes the table by the rows of one micro-batch, as `TableBatches.arrange` has made them.

        Raises:
            MissingRowError: an update finds no row of its key, and `fails`.
        """
        order = list_order(rows, self.order)
        match self.kind:
            case "put":
                put_rows(changes, rows, self.key, order, self.operation, complete=self.complete)
            case "delete":
                delete_rows(changes, rows, self.key)
            case "update":
                update_rows(
                    changes,
                    rows,
                    key=self.key,
                    order=order,
                    assigned=self.assigned,
                    inserted=self.inserted,
                    current=self.current,
                    fold=None if self.fold is None else fold_in_spark(spark, self.view, self.fold),
                    sums=self.sums,
                    fails=self.fails,
                )


def fold_in_spark(spark: SparkSession, view: str, sql: str) -> Callable[[pa.Table], pa.Table]:
    """A function that lets Spark compute the rows from the view that it registers."""

    def fold(updates: pa.Table) -> pa.Table:
        spark.createDataFrame(updates).createOrReplaceTempView(view)
        return spark.sql(sql).toArrow()

    return fold


TableChanges = TypeVar("TableChanges")
GivenChanges = TypeVar("GivenChanges", covariant=True)
TakenChanges = TypeVar("TakenChanges", contravariant=True)


class BatchWriter(Protocol[GivenChanges]):
    """Writes the batches of one query to one table, with a ledger."""

    def check(self) -> None:
        """Raises TableError if the table is not as it is declared, or cannot be reached."""

    def open(self, query_id: str, sink: str) -> None:
        """Refuses earlier writers of this query from now on. `sink`: what the ledger calls the table."""

    def write(self, batch: int, digest: str, work: Callable[[GivenChanges], None]) -> None:
        """Does `work`, and notes the batch, in one transaction. A batch that is noted by this digest is skipped."""


class RowsToChanges(Protocol[TakenChanges]):
    """What the rows of a query do to the table. `order`: as in `TableChange` of Penstock's codegen."""

    @property
    def order(self) -> str | None: ...

    def apply(self, changes: TakenChanges, rows: pa.Table, spark: SparkSession) -> None:
        """Changes the table by the rows of one micro-batch."""


class TableBatches(Generic[TableChanges]):
    """Writes the micro-batches of one query. `sink`: what the ledger calls the table."""

    def __init__(self, writer: BatchWriter[TableChanges], changes: RowsToChanges[TableChanges], sink: str) -> None:
        self._writer, self._changes, self._sink = writer, changes, sink
        self._opened: str | None = None

    def arrange(self, rows: DataFrame) -> DataFrame:
        """The rows with the fields of the struct `order` as columns `<order>.<field>`, which cost less. Others stay."""
        order = self._changes.order
        type_ = None if order is None else rows.schema[order].dataType
        if order is None or not isinstance(type_, StructType):
            return rows
        fields = [F.col(order)[name].alias(f"{order}.{name}") for name in type_.fieldNames()]
        return rows.select("*", *fields).drop(order)

    def write(self, batch: DataFrame, number: int, metadata: str, offsets: str) -> None:
        """Writes a micro-batch. `metadata`, `offsets`: the texts of these files of the checkpoint for it.

        Raises:
            TableError, FencedError, DivergedError: the writer cannot write it.
            MissingRowError: as `RowsToTable.apply`.
        """
        query = json.loads(metadata)["id"]
        if query != self._opened:
            self._writer.open(query, self._sink)
            self._opened = query
        rows = batch.toArrow()  # one collect: a batch that is computed twice is counted twice
        digest = hashlib.sha256(offsets.encode()).hexdigest()
        self._writer.write(number, digest, lambda changes: self._changes.apply(changes, rows, batch.sparkSession))
