"""A Program: everything a Spark session has to be told to run the queries of a script. Plain data, no pyspark.

It can be printed (EXPLAIN SPARK), compared, fingerprinted (checkpoints) and written out as a job (`job_text.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from penstock.codegen.connector_options import Connected
from penstock.codegen.connector_options import Option as Option
from penstock.codegen.connector_options import is_intermediate as is_intermediate
from penstock.codegen.known_connectors import FACTS
from penstock.codegen.lazy_parsing import parse_records
from penstock.codegen.printed import Place as Place
from penstock.codegen.printed import Printed as Printed
from penstock.codegen.record_parsing import Columns, Parsing
from penstock.codegen.table_change import TableChange
from penstock.codegen.watermark_inputs import Closing as Closing
from penstock.codegen.watermark_inputs import WatermarkInput as WatermarkInput
from penstock.codegen.worker_views import BucketedView as BucketedView
from penstock.codegen.worker_views import BucketView as BucketView
from penstock.codegen.worker_views import LookupView as LookupView
from penstock.codegen.worker_views import MultisetView as MultisetView
from penstock.codegen.worker_views import PackedView as PackedView
from penstock.codegen.worker_views import PaneView as PaneView
from penstock.codegen.worker_views import PartialView as PartialView
from penstock.codegen.worker_views import SessionView as SessionView
from penstock.diagnostics import Diagnostic
from penstock.diagnostics.source import Span
from penstock.planner.functions.facts import RowFault as RowFault
from penstock.planner.plan.column_filter import ColumnFilter
from penstock.planner.plan.script_settings import DEFAULTS, StateStore

STORE_SETTING = "spark.sql.streaming.stateStore.providerClass"
PARTITIONS_SETTING = "spark.sql.shuffle.partitions"
_PROVIDERS = "org.apache.spark.sql.execution.streaming.state."
STORE_PROVIDERS = {
    StateStore.MEMORY: _PROVIDERS + "HDFSBackedStateStoreProvider",
    StateStore.ROCKSDB: _PROVIDERS + "RocksDBStateStoreProvider",
}
"""The values of Spark's STORE_SETTING."""
VERSIONS_SETTING, ONE_VERSION = "spark.sql.streaming.maxBatchesToRetainInMemory", "1"
"""How many versions of a state Spark keeps on the heap. One is enough: Spark can read an older one from its files.

By default Spark keeps two. Large states fill the heap then.
"""
FILES_SETTING = "spark.sql.streaming.checkpointFileManagerClass"
DISK_FILES = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
"""How Spark writes the files of a checkpoint, and of the log of a files sink, where all of them are on local disks.

By default Spark renames files through Hadoop's FileContext, which starts a process for each look at a link: fifty in a
small micro-batch. Both ways rename a file first and its checksum then.
"""
FORMAT_SETTING = "spark.sql.streaming.stateStore.checkpointFormatVersion"
"""How a new checkpoint keeps state. Spark goes on with an older one as it is."""
MICRO_BATCH_FORMAT = "1"
"""The value of Spark's FORMAT_SETTING in micro-batches."""
_ALLOW_SETTING = "spark.sql.streaming.realTimeMode.dangerouslyAllowCheckpointV1.enabled"
# The format of micro-batches, so that a checkpoint goes from one trigger to the other. Only state is at risk in it.
_STATELESS_REAL_TIME = (
    (STORE_SETTING, STORE_PROVIDERS[StateStore.ROCKSDB]),
    (FORMAT_SETTING, MICRO_BATCH_FORMAT),
    (_ALLOW_SETTING, "true"),
)
# Each batch names the files of its state anew, so that it finds none of a batch that was stopped.
_STATEFUL_REAL_TIME = ((FORMAT_SETTING, "2"), (_ALLOW_SETTING, "false"))
Newer: TypeAlias = tuple[tuple[tuple[int, int], tuple[Diagnostic, ...]], ...]
CHECK_SETTING = "spark.sql.streaming.unsupportedOperationCheck"
INSERT, UPDATE, DELETE = "insert", "update", "delete"
"""What a row of a table's changes does."""


@dataclass(frozen=True, slots=True)
class Input(Connected):
    """One source of rows. It is registered as the view `view` before the views of its query are made.

    Records that are parsed have three columns beside the declared ones. `_malformed` is the text of a record that does
    not match the declared types, else NULL. `_file` is the path, and `_arrived` the modification time of the file.
    Messages have `_topic`, `_partition` and `_offset`, which say where they are, and `_arrived`, their timestamp. A
    read of an ordered input of files also has `_commit`. It is the place of the file among the files that Spark's file
    sink has committed, NULL if it has committed none. Other inputs have the declared columns only.
    """

    name: str
    view: str
    connector: str
    options: tuple[Option, ...]
    columns: tuple[tuple[str, str], ...]
    """The declared columns: name and Spark type."""
    filters: tuple[ColumnFilter, ...] = ()
    """In a read, rows for which one of these is not true need not be there."""
    ordered: bool = False
    """Whether there is a column `_place`, which grows from record to record of a file."""
    metadata: tuple[tuple[str, str], ...] = ()
    """More columns: what the connector knows of a record, by its own names for it."""
    key: tuple[str, ...] = ()
    """The columns that are in the keys of records, where these are apart; or by which records of a table delete."""
    tombstones: bool = False
    """Whether there is a column `_tombstone`: whether a record deletes the row of its key."""
    newest_by_place: bool = False
    """If true, a record's place and not its event time decides which record of a key is newest."""
    partitions: int | None = None
    """The declared number of partitions, None if there is none."""
    explained: bool = False
    """Whether there is a column `_why`: the reason why a record is malformed, as far as it is known."""
    made_parsing: Parsing | None = field(default=None, compare=False, repr=False)
    """How records become rows, which follows from the other fields. None: it is made when it is asked for."""

    @property
    def parsing(self) -> Parsing | None:
        """How records become rows, None where the place holds rows."""
        return self.made_parsing or parse_records(self)

    @property
    def has_header(self) -> bool:
        """Whether the first record of each file names the columns."""
        return self.parsing is not None and self.parsing.has_header

    @property
    def is_in_database(self) -> bool:
        """Whether a database is asked for the rows that are needed."""
        return FACTS[self.connector].looks_up

    @property
    def is_limited(self) -> bool:
        """Whether a micro-batch may hold a part of what is there."""
        return any(name in FACTS[self.connector].limiting for name, _ in self.options)

    @property
    def numbers_records(self) -> bool:
        """Whether the records of a file are numbered: to put them in order, or to find the first one."""
        return self.ordered or self.has_header


@dataclass(frozen=True, slots=True)
class Metric:
    """A count over a view's rows per micro-batch: the name it is reported under and a Spark SQL aggregate."""

    name: str
    sql: str


@dataclass(frozen=True, slots=True)
class ViewWatermark:
    """The watermark of a view."""

    column: str
    """The event time of the view's rows."""
    delay: int
    """How many milliseconds the watermark is behind the newest event time."""


@dataclass(frozen=True, slots=True)
class View:
    """A temporary view: one Spark SELECT over earlier views. Its metrics are observed on its rows."""

    name: str
    sql: str
    watermark: ViewWatermark | None = None
    metrics: tuple[Metric, ...] = ()


@dataclass(frozen=True, slots=True)
class RemoteView(Connected):
    """A temporary view of the rows of another view, with the rows that Python workers find for them in a database.

    The view `source` has the columns of this view, except `picked` and `any_row`, and the values of the keys.
    """

    name: str
    source: str
    table: str
    """What the script calls the table."""
    connector: str
    options: tuple[Option, ...]
    columns: tuple[tuple[str, str, bool], ...]
    """The declared columns: name, Spark type, whether it may be NULL."""
    key: tuple[tuple[str, str], ...]
    """The columns of the table's primary key, each with the column of `source` that has its value."""
    picked: tuple[tuple[str, str], ...]
    """Columns behind these, each with the column of the table that it shows."""
    outer: bool
    """Whether rows without a row of the table stay, with NULL in `picked`."""
    schema: str
    """A Spark SELECT that has the names and types of the columns. It is never run."""
    any_row: str | None = None
    """A last column of the view: whether the table has any row. It is known where a value of the key is NULL."""
    span: Span | None = field(default=None, compare=False, repr=False)
    """The join of the script."""


AnyView: TypeAlias = View | PackedView | PartialView | PaneView | BucketedView | RemoteView


@dataclass(frozen=True, slots=True)
class Rejects:
    """The rejected rows of an input: a query that is started when the first one has been seen."""

    name: str
    """The name of the input."""
    input: Input
    views: tuple[View, ...]
    view: str
    columns: tuple[tuple[str, str], ...]
    """The columns of the view: `reason`, `record` (the row as JSON, or its raw text), and where the record is from."""


@dataclass(frozen=True, slots=True)
class QueryOutput(Connected):
    """Where a query's rows go: a connector and its options. `columns` are (name, Spark type)."""

    name: str
    connector: str
    options: tuple[Option, ...]
    columns: tuple[tuple[str, str], ...]
    partitions: int | None = None
    """The declared number of partitions, None if there is none."""
    key: tuple[str, ...] = ()
    """The columns by which the rows are partitioned or identified, empty if none are known."""
    time: str | None = None
    """The event time of the rows, None if they have none."""
    is_table: bool = False
    """Whether they are the rows of a table."""
    is_written_by_spark: bool = field(default=False, compare=False)
    """Whether a sink writes the rows that Spark does not ship."""
    avro: tuple[tuple[str, Columns], ...] = field(default=(), compare=False, repr=False)
    """The columns in the key and in the value of messages, as far as these are Avro."""


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

    `<name>_clock` has a row with a struct `now`: `watermark` is the watermark of the micro-batch, and `batch` its
    number. `<name>_end` is a stream with rows of `time` and `input`, which move the watermark of the input so named.
    The row that drains a query has an `input` of NULL, which means all inputs, and a `time` after every event time.
    """
    key: tuple[str, ...]
    """The columns by which newer rows replace older ones in an `update` query."""
    rejects: tuple[Rejects, ...]
    fingerprint: str
    """The fingerprint of everything that a checkpoint depends on. A checkpoint with another one is refused."""
    interval: int = DEFAULTS.trigger_interval
    """The milliseconds from the start of a micro-batch to the start of the next, unless the first takes longer."""
    store: StateStore | None = None
    """What keeps its state, None if it has none."""
    watermark_inputs: tuple[WatermarkInput, ...] = ()
    """The inputs that the watermark depends on."""
    takes_heartbeats: bool = False
    """Whether heartbeats may move one of them, or an input of another query of the program."""
    closing: Closing | None = None
    """When rows that wait for the watermark come out, None if none does."""
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
    rejects_beside: str | None = None
    """For a query that writes an intermediate stream: its rejected rows go beside this folder of a sink."""
    change: TableChange | None = None
    """How its rows change a table that others own, too; None for other sinks."""
    real_time: int | None = None
    """The milliseconds of a batch in Spark's real-time mode, None for micro-batches. No fingerprint depends on it."""
    message_items: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """For messages: Spark SQL that makes their `key`, `value` and `time` of a row of the result."""
    contract_views: tuple[str, ...] = ()
    """The views that must stay as they are for a checkpoint to fit. Others may change from run to run."""
    printed: tuple[Printed, ...] = field(default=(), compare=False, repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)
    """Where in the script the query comes from."""

    @property
    def rejects_folder(self) -> str | None:
        """The folder of the rejected rows of all inputs. None: they go beside the checkpoint, if that is kept."""
        if self.output.is_intermediate:
            return None if self.rejects_beside is None else f"{self.rejects_beside}_rejected/{self.name}"
        return None if self.output.folder is None else f"{self.output.folder}_rejected"

    @property
    def state_settings(self) -> tuple[tuple[str, str], ...]:
        """What the session has to be told right before the query is started, as it holds for the query's state."""
        if self.store is None:
            return () if self.real_time is None else _STATELESS_REAL_TIME
        kept = (STORE_SETTING, STORE_PROVIDERS[self.store]), (PARTITIONS_SETTING, str(self.partitions))
        return kept if self.real_time is None else (*kept, *_STATEFUL_REAL_TIME)


@dataclass(frozen=True, slots=True)
class LocalTable:
    """The `columns` of a table that a small read reads, and DuckDB's name for it. It is one of files, or at hand.

    With a `key` the files hold records, and the newest record of each key is the row. It is the one with the
    greatest `sequence`, if there is one, and then the last. One whose `operation` deletes leaves no row.
    """

    name: str
    input: Input
    columns: tuple[str, ...]
    key: tuple[str, ...] | None
    sequence: str | None
    operation: str | None
    deletes: tuple[str, ...]
    """In lower case the operations that delete."""
    required: tuple[str, ...]
    """The columns that are NULL in no row."""
    time: str | None
    """The event time by which rows are believed."""


@dataclass(frozen=True, slots=True)
class LocalRead:
    """A read for DuckDB. The answer has these `columns` by name and Spark type, in order; DuckDB calls them otherwise.

    The columns of its tables are c0, c1 … there. `constants` are the parameters in its SQL by name, with their values.
    """

    tables: tuple[LocalTable, ...]
    sql: str
    constants: tuple[tuple[str, object], ...]
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Read:
    """A query over what is there now. Its inputs and then its views are registered in order.

    `result` is the answer, which has these `columns`. Its inputs and views may have names that others have, too:
    it needs a session of its own.
    """

    settings: tuple[tuple[str, str], ...]
    inputs: tuple[Input, ...]
    views: tuple[View, ...]
    result: str
    columns: tuple[str, ...]
    printed: tuple[Printed, ...] = field(default=(), compare=False, repr=False)
    local: LocalRead | None = None
    """The same for DuckDB, if it is known to give the same answer."""
    newer: Newer = field(default=(), compare=False, repr=False)
    """As in a Program."""


@dataclass(frozen=True, slots=True)
class Program:
    """`settings` are Spark configuration entries that results depend on, in order."""

    settings: tuple[tuple[str, str], ...]
    queries: tuple[SparkQuery, ...]
    newer: Newer = field(default=(), compare=False, repr=False)
    """By version of Spark: what it lacks of the functions and triggers that are used."""

    @property
    def state_partitions(self) -> str:
        """How many partitions the state of a query has unless it says otherwise."""
        return dict(self.settings)[PARTITIONS_SETTING]
