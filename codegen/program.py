"""A Program: everything a Spark session has to be told to run the queries of a script. Plain data, no pyspark.

It can be printed (EXPLAIN SPARK), compared, fingerprinted (checkpoints) and written out as a PySpark script (eject).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from penstock.diagnostics.source import Span
from penstock.planner.connectors import STAGE, connector_of
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


class _Connected:
    """What the connector of an Input or an Output says of it."""

    __slots__ = ()
    connector: str
    options: tuple[Option, ...]

    @property
    def values(self) -> dict[str, str | int | bool]:
        """The options, and the defaults of those that are not set."""
        return {**connector_of(self.connector).defaults, **dict(self.options)}

    @property
    def identity(self) -> tuple[Option, ...]:
        """The options that say which data it is."""
        names = [each.name for each in connector_of(self.connector).options if each.identifies]
        return tuple(each for each in self.options if each[0] in names)

    @property
    def path_option(self) -> str | None:
        """The option that is a path in one of Spark's file systems, None if it is elsewhere."""
        return next((each.name for each in connector_of(self.connector).options if each.is_path), None)

    @property
    def folder(self) -> str | None:
        """The path of that option."""
        return None if self.path_option is None else str(dict(self.options)[self.path_option])

    @property
    def holds_rows(self) -> bool:
        """Whether its rows are still there when the process has ended."""
        return connector_of(self.connector).outlives_process

    @property
    def is_intermediate(self) -> bool:
        """Whether queries of the program write and read it."""
        return self.connector == STAGE.name


@dataclass(frozen=True, slots=True)
class Input(_Connected):
    """One streaming source, registered under the view name `view` before the views below are made.

    The registered columns are `columns` (name, Spark type) and, with files, `_malformed` (the text of a record that
    does not fit the declared types, else NULL), `_file` (its path) and `_arrived` (the file's modification time). Those
    of an `ordered` input have `_place`, too: a value that grows from line to line of a file. In a read, an ordered
    input whose records are parsed has `_commit` besides: the place of its file among those that Spark's file sink has
    committed there, NULL where it has written none. Where records are not parsed there are the columns and, if ordered,
    `_place` alone.
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
        return connector_of(self.connector).has_header(self.options)

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
class Watermark:
    """`column` is the event time of the view's rows, `delay` milliseconds behind the newest one lies the watermark."""

    column: str
    delay: int


@dataclass(frozen=True, slots=True)
class View:
    """A temporary view: one Spark SELECT over views made before. Metrics are observed on its rows, if any."""

    name: str
    sql: str
    watermark: Watermark | None = None
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


Step: TypeAlias = View | PackedView | PaneView | BucketView | LookupView


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
class Output(_Connected):
    """Where a query's rows go: a connector and its options. `columns` are (name, Spark type)."""

    name: str
    connector: str
    options: tuple[Option, ...]
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Paced:
    """An input whose rows move the watermark. Times and lengths of time are in milliseconds.

    The metric `newest` of the view `view` is the newest event time of a micro-batch's sound rows, NULL without any; the
    watermark of the input lies `delay` behind. After `idle` of silence it holds nothing back (None: it always does).
    `behind`: the input is written by another query, whose rows to come are no more than this behind its own watermark.
    """

    name: str
    view: str
    delay: int
    idle: int | None
    behind: int | None


@dataclass(frozen=True, slots=True)
class SparkQuery:
    """One Structured Streaming query.

    `inputs` and then `views` are registered in order; `result` names the view whose rows go to `output`.
    A `timed` query, one with a watermark, has two more views that the runtime registers first: `<name>_clock`, one
    row whose column `watermark` is the watermark in force in the micro-batch, and `<name>_end`, a stream that tells
    inputs how far they are: rows of `time` and `input`, the name of one. A query that is drained has one whose `time`
    lies behind every event time, for all inputs: its `input` is NULL. `paced`: the inputs that others wait for, empty
    where none is ever told.
    `key`: the columns by which newer rows replace older ones in an `update` query. `operation`: a column of the result
    that says whether a row is an 'insert', an 'update' or a 'delete', None where rows are not deleted.
    `checked`: whether Spark may check the query, which is its CHECK_SETTING when it is started. It refuses two things
    that queries over tables need: aggregations over others, because rows might be late there (these have no event
    time), and numbers that tell records apart, because those of several micro-batches may be the same (they are only
    compared within a file).
    `store` keeps its state, in so many `partitions`; both are None if it has none.
    `numbered`: it has that clock for the sake of its column `batch`, the number of the micro-batch.
    `every`: the milliseconds from one micro-batch to the next, None where that does not matter.
    `fingerprint` is that of all that a checkpoint of the query depends on: one with another is refused. `lasting`: the
    views among it; others may change from run to run. `printed` and `span`: where in the script it comes from.
    """

    name: str
    inputs: tuple[Input, ...]
    views: tuple[Step, ...]
    result: str
    output: Output
    mode: Literal["append", "update"]
    timed: bool
    key: tuple[str, ...]
    rejects: tuple[Rejects, ...]
    fingerprint: str
    every: int | None = None
    store: StateStore | None = None
    paced: tuple[Paced, ...] = ()
    partitions: int | None = None
    operation: str | None = None
    checked: bool = True
    numbered: bool = False
    lasting: tuple[str, ...] = ()
    printed: tuple[Printed, ...] = field(default=(), compare=False, repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)

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
