"""A Program: everything a Spark session has to be told to run the queries of a script. Plain data, no pyspark.

It can be printed (EXPLAIN SPARK), compared, fingerprinted (checkpoints) and written out as a PySpark script (eject).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from penstock.diagnostics.source import Span
from penstock.planner.plan import StateStore

STORE_SETTING = "spark.sql.streaming.stateStore.providerClass"
PARTITIONS_SETTING = "spark.sql.shuffle.partitions"
_PROVIDERS = "org.apache.spark.sql.execution.streaming.state."
STORE_PROVIDERS = {
    StateStore.MEMORY: _PROVIDERS + "HDFSBackedStateStoreProvider",
    StateStore.ROCKSDB: _PROVIDERS + "RocksDBStateStoreProvider",
}
"""The values of Spark's STORE_SETTING."""
CHECK_SETTING = "spark.sql.streaming.unsupportedOperationCheck"
COST_SETTING = "spark.sql.files.openCostInBytes"
INSERT, UPDATE, DELETE = "insert", "update", "delete"
"""What a row of a table's changes does."""
Option = tuple[str, str | int | bool]


@dataclass(frozen=True, slots=True)
class Input:
    """One streaming source, registered under the view name `view` before the views below are made.

    The registered columns are `columns` (name, Spark type) and, with files, `_malformed` (the text of a record that
    does not fit the declared types, else NULL), `_file` (its path) and `_arrived` (the file's modification time). Those
    of an `ordered` input have `_place`, too: a value that grows from line to line of a file. In a read, an ordered
    input of files has `_commit` besides: the place of the file among those that Spark's file sink has committed there,
    NULL where it has written none; and there is the connector memory, with columns and, if ordered, `_place` alone.
    """

    name: str
    view: str
    connector: str
    options: tuple[Option, ...]
    columns: tuple[tuple[str, str], ...]
    ordered: bool = False

    @property
    def has_header(self) -> bool:
        """Whether the first record of each file names the columns."""
        options = dict(self.options)
        return self.connector == "files" and options["format"] == "csv" and bool(options.get("header", True))

    @property
    def numbers_records(self) -> bool:
        """Whether the records of a file are numbered: to put them in order, or to find the first one."""
        return self.ordered or self.has_header


def files_cost(inputs: Iterable[Input]) -> int:
    """The COST_SETTING of a query over these inputs: where files have headers, a task is to read one file."""
    return 1 << 50 if any(each.has_header for each in inputs) else 4 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """An expression in a text of Spark SQL: its characters `start` to `end`, not counting blanks; what it was made of.

    `name` is that of a function, an operator's sign, or `CAST AS` and a type; `operands` are those of an operator.
    """

    start: int
    end: int
    name: str
    span: Span
    operands: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Printed:
    """A text that Spark is given, and the places of the script in it. They are for errors; nothing depends on them."""

    sql: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Metric:
    """A count over a view's rows per micro-batch: the name it is reported under and a Spark SQL aggregate."""

    name: str
    sql: str


@dataclass(frozen=True, slots=True)
class ViewWatermark:
    """`column` is the event time of the view's rows, `delay` milliseconds behind the newest one lies the watermark."""

    column: str
    delay: int


@dataclass(frozen=True, slots=True)
class View:
    """A temporary view: one Spark SELECT over views made before. Metrics are observed on its rows, if any."""

    name: str
    sql: str
    watermark: ViewWatermark | None = None
    metrics: tuple[Metric, ...] = ()


@dataclass(frozen=True, slots=True)
class PackedView:
    """A temporary view of tables of rows, made by Spark's Python workers: few rows of Spark's for many of the stream's.

    The view `source` has a column `row`, a struct, `time`, the event time of it, and others before these, numbers or
    truth values and never NULL. Rows of a micro-batch that agree in those others, and whose times no cut separates,
    make a table. There is a cut at each of `cuts` and every `length` from there, in microseconds since 1970. In place
    of `row` the view has `rows`, a table, and its `time` is the newest of these, NULL where nothing is cut. `schema` is
    a Spark SELECT that is never run: it has the names and types of the columns.
    """

    name: str
    source: str
    length: int
    cuts: tuple[int, ...]
    schema: str


@dataclass(frozen=True, slots=True)
class PaneView:
    """A temporary view that DuckDB computes in Spark's Python workers from the panes of another view.

    The view `source` has columns `begin`, a time, `bucket`, a number, and `tables`, an array of tables of rows. A pane
    is the rows of one begin and bucket. DuckDB runs `sql` over `rows`: of each its number `place`, the number of its
    `pane`, the pane's `begin`, and the fields `given`; times and intervals come as microseconds. With an `order`, it is
    asked that first, over the same columns: for the `place` of each row in the order in which they are then numbered,
    and for another `pane`. It answers `sql` with `place` and columns of its own. The view's columns are the fields
    `kept` of the rows at those places, then the columns of the answer, but of a column that is `picked` (its name, a
    field) the field's value in the row whose place it says. `schema` is a Spark SELECT that is never run: it has the
    names and types of these columns.
    """

    name: str
    source: str
    order: str | None
    sql: str
    given: tuple[str, ...]
    kept: tuple[str, ...]
    picked: tuple[tuple[str, str], ...]
    schema: str


@dataclass(frozen=True, slots=True)
class BucketView:
    """A temporary view that DuckDB computes in Spark's Python workers from rows that are remembered for later ones.

    The view `source` has columns `bucket`, a number, `time`, an event time, and `rows`, a table. The rows of a bucket
    wait until the watermark has passed the field `time`. Then DuckDB runs `order` over these and the remembered ones:
    it answers with each row's number `place` and the number of its `pane`, in the order in which rows are in frames.
    Over rows in that order, which have `new` where they have just become final, it runs `sql`, as that of a PaneView;
    `given`, `kept`, `picked` and `schema` are as there. The last `back` rows of each pane are
    remembered, of those where the field `only` is true if there is one.
    """

    name: str
    source: str
    order: str
    sql: str
    time: str
    back: int
    given: tuple[str, ...]
    kept: tuple[str, ...]
    picked: tuple[tuple[str, str], ...]
    schema: str
    only: str | None = None


@dataclass(frozen=True, slots=True)
class LookupView:
    """A temporary view that DuckDB computes in Spark's Python workers from rows that come and records that are kept.

    The view `source` has columns `bucket`, a number, `time`, which is not looked at, and `rows`, a table. In each
    micro-batch DuckDB runs `newest` over the records that are kept in a bucket and the rows that have come, which have
    a `place` and the fields `given`: it answers with the `place` of each that is kept from now on. Over the same rows,
    which then have `known` where they have been kept before, and `newest` where they are from now on, it runs `sql`, as
    that of a PaneView; `kept`, `picked` and `schema` are as there.
    """

    name: str
    source: str
    newest: str
    sql: str
    given: tuple[str, ...]
    kept: tuple[str, ...]
    picked: tuple[tuple[str, str], ...]
    schema: str


AnyView: TypeAlias = View | PackedView | PaneView | BucketView | LookupView


@dataclass(frozen=True, slots=True)
class Rejects:
    """The rows of input `name` that were set aside: a query that is started when the first one has been seen.

    `view` has the columns `reason`, `record` (the row as JSON or its raw text), `file`.
    """

    name: str
    input: Input
    views: tuple[View, ...]
    view: str


@dataclass(frozen=True, slots=True)
class QueryOutput:
    """Where a query's rows go: a connector and its options. `columns` are (name, Spark type)."""

    name: str
    connector: str
    options: tuple[Option, ...]
    columns: tuple[tuple[str, str], ...]

    @property
    def holds_rows(self) -> bool:
        """Whether the rows of earlier runs are still there when a query goes on."""
        return self.connector not in ("console", "memory")


@dataclass(frozen=True, slots=True)
class WatermarkInput:
    """An input whose rows move the watermark. Times are in milliseconds."""

    name: str
    view: str
    """The view whose metric `newest` is the newest event time of a micro-batch's valid rows, NULL without any."""
    delay: int
    """How far the watermark of the input is behind its newest event time."""
    idle: int | None
    """After this much silence the input no longer holds the watermark back. None: it always does."""
    lag: int | None
    """How far rows to come may be behind the watermark of the query that writes this input. None: no query does."""


@dataclass(frozen=True, slots=True)
class SparkQuery:
    """One Structured Streaming query."""

    name: str
    inputs: tuple[Input, ...]
    """Registered first, in this order."""
    views: tuple[AnyView, ...]
    """Registered after the inputs, in this order."""
    result: str
    """The view whose rows go to `output`."""
    output: QueryOutput
    mode: Literal["append", "update"]
    timed: bool
    """Whether the query has a watermark. If so, the runtime registers two more views before all others.

    `<name>_clock` has one row: `watermark`, the watermark in force in the micro-batch, and `batch`, its number.
    `<name>_end` is a stream with rows of `time` and `input`, which move the watermark of the input so named. The row
    that drains a query has an `input` of NULL, which means all inputs, and a `time` after every event time.
    """
    key: tuple[str, ...]
    """The columns by which newer rows replace older ones in an `update` query."""
    rejects: tuple[Rejects, ...]
    fingerprint: str
    """The fingerprint of everything that a checkpoint depends on. A checkpoint with another one is refused."""
    every: int | None = None
    """The milliseconds from one micro-batch to the next, None where that does not matter."""
    store: StateStore | None = None
    """What keeps its state, None if it has none."""
    watermark_inputs: tuple[WatermarkInput, ...] = ()
    """The inputs that other inputs wait for, empty where none takes heartbeats."""
    partitions: int | None = None
    """The number of partitions of its state, None if it has none."""
    operation: str | None = None
    """The column of the result that says whether a row is an insert, an update or a delete; None without deletes."""
    checked: bool = True
    """Whether Spark may check the query: its CHECK_SETTING at the start.

    The check refuses two things that queries over tables need. One is an aggregation over another, because rows might
    be late there; these have no event time. The other is a number that distinguishes records, because it may be the
    same in several micro-batches; here it is compared only within a file.
    """
    numbered: bool = False
    """Whether it reads the number of the micro-batch from `<name>_clock`."""
    contract_views: tuple[str, ...] = ()
    """The views that must stay as they are for a checkpoint to fit. Others may change from run to run."""
    printed: tuple[Printed, ...] = field(default=(), compare=False, repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)
    """Where in the script the query comes from."""

    @property
    def state_settings(self) -> tuple[tuple[str, str], ...]:
        """What the session has to be told right before the query is started, as it holds for the query's state."""
        if self.store is None:
            return ()
        return (STORE_SETTING, STORE_PROVIDERS[self.store]), (PARTITIONS_SETTING, str(self.partitions))


@dataclass(frozen=True, slots=True)
class Read:
    """A query over what is there now. Its inputs and then its views are registered in order.

    `result` is the answer, which has these `columns`. The names of its inputs and views may be those of others: it
    needs a session of its own.
    """

    settings: tuple[tuple[str, str], ...]
    inputs: tuple[Input, ...]
    views: tuple[View, ...]
    result: str
    columns: tuple[str, ...]
    printed: tuple[Printed, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Program:
    """`settings` are Spark configuration entries that results depend on, in order."""

    settings: tuple[tuple[str, str], ...]
    queries: tuple[SparkQuery, ...]

    @property
    def state_partitions(self) -> str:
        """How many partitions the state of a query has unless it says otherwise."""
        return dict(self.settings)[PARTITIONS_SETTING]
