"""What a connector is to the runtime: a source, a sink, a lookup, or some of these.

An implementation derives from the protocol and overrides what it needs.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock.codegen.program import Input, RemoteView, SparkQuery
from penstock.diagnostics import Diagnostic
from penstock.rows import Row
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.progress.table_reports import TableReport


class RuntimeSource(Protocol):
    """Where the rows of an Input come from."""

    def check(self, storage: Storage, place: str | None) -> None:
        """Raises RunError if what the input names is not there, or not whole. Cheap: no rows are read.

        `place`: the checkpoint folder of the query that reads it, None if it begins anew.
        """
        return None

    @property
    def is_watched(self) -> bool:
        """Whether `inspect` may find something while a query reads the input."""
        return False

    def inspect(self) -> Sequence[Diagnostic]:
        """What is to be told of the input, after `check`, and from time to time while a query reads it.

        Raises:
            RunError: the input has changed so that no query can go on reading it, or cannot be looked at.
        """
        return ()

    @property
    def reads_files(self) -> bool:
        """Whether Spark's source of files reads the stream."""
        return False

    @property
    def packages(self) -> set[str]:
        """The packages that workers need for it."""
        return set()

    def count_tasks(self) -> int:
        """How many tasks read the input all the time, where a query runs in real time.

        Raises:
            RunError: the place cannot be asked.
        """
        raise AssertionError("the planner let an input through that is not read in real time")

    def settle(self, storage: Storage, place: str) -> Mapping[str, str]:
        """Options that replace options of the input. They are decided once for a checkpoint, and noted there.

        `place`: the checkpoint folder of the query that reads it.

        Raises:
            RunError: it cannot be decided.
        """
        return {}

    def stream(self, spark: SparkSession) -> DataFrame:
        """The rows as they come, with the columns that Input says.

        Raises:
            RunError: the columns that are there do not fit the declared columns.
        """
        raise AssertionError("the planner let a stream through that cannot be read")

    def snapshot(self, spark: SparkSession, storage: Storage, held: Sequence[Row]) -> DataFrame:
        """The rows of a table that are there now, by whole micro-batches. `held`: the rows that this process holds.

        Raises:
            RunError: the columns that are there do not fit the declared columns, or something is damaged.
        """
        raise AssertionError("the planner let a read of a table through that cannot be read")


class RuntimeSink(Protocol):
    """Where the rows of a query go. Either `writer` gives a sink of Spark's, or `write` takes each micro-batch."""

    def check(self, storage: Storage, place: str | None, finished: int) -> None:
        """Raises RunError if the query cannot write there. `finished` is its newest micro-batch, -1 if there is none.

        `place`: the checkpoint folder of the query, None if it begins anew.
        """
        return None

    def check_removable(self, storage: Storage) -> None:
        """Raises RunError if the query cannot write there after `remove_rows`, or this may not remove the rows."""
        self.check(storage, None, -1)

    def remove_rows(self, storage: Storage) -> str | None:
        """Removes the rows that queries have written there, and no others. Returns the place, None if it had none."""
        return None

    @property
    def kept_rows(self) -> str | None:
        """What `remove_rows` leaves as it is, because others may have written there; None if it leaves nothing."""
        return None

    def open(self, storage: Storage, place: str) -> None:
        """Makes what rows go to, so that readers find it, if still empty.

        `place`: the checkpoint folder of the query.
        """
        return None

    @property
    def retrying(self) -> str | None:
        """Why the last attempt to write failed, while the sink waits to try again."""
        return None

    @property
    def report(self) -> TableReport | None:
        """What was done to a table that others own."""
        return None

    def watch(self, changed: Callable[[], None]) -> None:
        """Has `changed` called, from another thread, when `retrying` changes."""
        return None

    def stop(self) -> None:
        """Lets no further attempt to write begin. May be called from another thread than `write`."""
        return None

    def close(self) -> None:
        """Closes what is open, after the last `write`."""
        return None

    def arrange(self, rows: DataFrame) -> DataFrame:
        """The rows of the query with the columns that `write` takes."""
        return rows

    def writer(self, rows: DataFrame) -> DataStreamWriter | None:
        """Spark's own sink for the rows of the query, None if there is none."""
        return None

    @abstractmethod
    def write(self, batch: DataFrame, number: int) -> None:
        """Writes a micro-batch; `number` counts from 0. One that was written before changes nothing."""


@runtime_checkable
class HoldingSink(RuntimeSink, Protocol):
    """A sink that holds its rows in this process."""

    @property
    @abstractmethod
    def begun(self) -> bool:
        """Whether it has received a batch."""

    @property
    @abstractmethod
    def evicted(self) -> int:
        """How many rows it has dropped because it holds only the newest ones."""

    @abstractmethod
    def rows(self) -> list[Row]:
        """The rows that it holds."""


class RuntimeLookup(Protocol):
    """Where the rows are found that a RemoteView shows."""

    @abstractmethod
    def check(self) -> None:
        """Raises RunError if the table cannot be read, or is not as it is declared."""

    @property
    @abstractmethod
    def packages(self) -> set[str]:
        """The packages that workers need for it, beside Spark's own."""

    @abstractmethod
    def frame(self, spark: SparkSession) -> DataFrame:
        """The rows of the view. Raises RunError as `check` does."""


@dataclass(frozen=True, slots=True)
class RuntimeConnector:
    """How Inputs, queries and views get their sources, sinks and lookups, None where it has none."""

    source: Callable[[Input], RuntimeSource] | None = None
    sink: Callable[[SparkQuery], RuntimeSink] | None = None
    lookup: Callable[[RemoteView], RuntimeLookup] | None = None
