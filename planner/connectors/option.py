"""What a connector is to the planner: a name, the options that it takes, and what it can do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal

import msgspec

from penstock.diagnostics import Diagnostic, Span
from penstock.planner.plan import Column, Options, Value
from penstock.planner.plan.generated_columns import FIELDS
from penstock.planner.types import Type


class OptionType(msgspec.Struct, frozen=True):
    """The values that an option accepts; `choices` restricts a STRING to a few words, `filled` says it is not empty."""

    kind: Literal["STRING", "INTEGER", "NUMBER", "BOOLEAN", "INTERVAL", "SECRET"]
    choices: tuple[str, ...] = ()
    filled: bool = False
    refused: tuple[tuple[str, str], ...] = ()
    """Words that one may look for among the choices, and why they are not there."""

    def __str__(self) -> str:
        if self.choices:
            return "one of " + ", ".join(f"'{choice}'" for choice in self.choices)
        if self.filled:
            return "a string that is not empty"
        return _EXPECTED[self.kind]


_EXPECTED = {
    "STRING": "a string",
    "INTEGER": "a number from 1 to 999999999",
    "NUMBER": "a number such as -5 or 0.25",
    "BOOLEAN": "TRUE or FALSE",
    "INTERVAL": "a time such as 7 DAYS",
    "SECRET": "ENV('NAME') or FILE('path')",
}


STRING = OptionType("STRING")
NAME = OptionType("STRING", filled=True)
INTEGER = OptionType("INTEGER")
NUMBER = OptionType("NUMBER")
"""Its value is the text of the number."""
BOOLEAN = OptionType("BOOLEAN")
INTERVAL = OptionType("INTERVAL")
"""Its value is in milliseconds."""
SECRET = OptionType("SECRET")
"""Its value is a SecretOption, so that the secret itself is never in a script."""


class ConnectorOption(msgspec.Struct, frozen=True):
    """One option of a connector. `default` is its value where it is not set, None if it has none."""

    name: str
    type: OptionType
    doc: str
    default: Value | None = None
    required: bool = False
    identifies: bool = False
    """Whether it says which data is meant: a checkpoint depends on it. Others may change from run to run."""
    is_path: bool = False
    """Whether it is a path in one of Spark's file systems."""
    limits_batch: bool = False
    """Whether it limits what a micro-batch reads."""
    check: Callable[[str, Span], Diagnostic | None] | None = None
    """Finds what is wrong with a string, whose place is given."""

    @property
    def secret(self) -> bool:
        """Whether strings given for it are hidden wherever text is shown."""
        return self.type is SECRET


PARTITIONS = ConnectorOption("partitions", INTEGER, "number of partitions by the key")
RATE = "rate"
_DECLARED_RATE = ConnectorOption(RATE, INTEGER, "stream: how many rows arrive a second, for EXPLAIN STATE")


def accept(
    options: Options, columns: Sequence[Column], span: Span, *, key: Collection[str], table: bool, written: bool
) -> None:
    """The check of a connector that holds columns of any types."""


def no_place(options: Options) -> str | None:
    """The place of a connector whose rows no other stream or table can name."""


def sees_same(read: str, written: str) -> bool:
    """For a connector whose places hold no other places."""
    return read == written


def never(options: Options) -> bool:
    """For a connector whose sink belongs to Penstock."""
    return False


def never_in_real_time(options: Options) -> str | None:
    """For a connector that reads and writes in micro-batches."""
    return "It works in micro-batches."


def no_header(options: Options) -> bool:
    """For a connector without files."""
    return False


class Metadata(msgspec.Struct, frozen=True):
    """What a connector knows of each record, for METADATA columns."""

    key: str
    type: Type
    doc: str
    nullable: bool = False
    """Whether it may be NULL."""


class RecordPlace(msgspec.Struct, frozen=True):
    """Where a record is from, in columns that its source puts beside the declared ones."""

    shown: tuple[tuple[str, str, Type], ...] = ()
    """What rejected rows say of it: their column, the column beside the record, and the type of both."""
    order: tuple[tuple[str, str], ...] = ()
    """What makes one record of a table newer than another: names, and the columns beside the record."""
    is_unique: bool = True
    """Whether no two records of a stream have the same place in that order."""


class Connector(msgspec.Struct, frozen=True):
    """A kind of place that rows come from or go to. The planner asks what it can do, and never what it is called."""

    name: str
    doc: str
    own_options: tuple[ConnectorOption, ...]
    reads_stream: bool = False
    reads_table: bool = False
    """Whether queries can follow a table there, by the records of its changelog."""
    reads_now: bool = False
    """Whether a read can ask for the rows of a table as they are at one moment."""
    parses_records: bool = False
    """Whether a record can be malformed. Then it is known of each record where it is from, and when it came."""
    record_place: RecordPlace = RecordPlace()
    """Where a malformed record is from, if records can be malformed."""
    keys_apart: bool = False
    """Whether a record has a key beside its value. A row of a table has its key there."""
    marks_deletes: bool = False
    """Whether a record of a table says by itself whether it deletes the row of its key."""
    metadata: tuple[Metadata, ...] = ()
    looks_up: bool = False
    """Whether it can give the rows of a table for keys, and the columns and rows that a read asks for."""
    is_database: bool = False
    """Whether it is a SQL database, which one library reads and writes for all of them."""
    packages: tuple[tuple[str, str], ...] = ()
    """Modules of Python that it needs, and what pip installs them from; empty where Penstock itself needs them."""
    only_tables: bool = False
    """Whether each of its rows has a primary key, so that no stream can be there."""
    one_row: bool = False
    """Whether a table of one row can be there that has no key."""
    appends: bool = False
    upserts: bool = False
    """Whether a row replaces the one of its key. Without it a changing table can only be written as a changelog."""
    deletes: bool = False
    """Whether rows can be deleted by their key."""
    changes_rows: bool = False
    """Whether a table there is rows, which are put and deleted by their key, and not the records of a changelog."""
    partial_updates: bool = False
    """Whether a change of a row can leave columns as they are, or depend on them."""
    adds: bool = False
    """Whether it can add to the number in a column, and refuses what is too large for the type of the column."""
    keeps_rows: bool = True
    """Whether what is written can be seen later."""
    outlives_process: bool = True
    """Whether what is written is still there when the process has ended."""
    exactly_once: bool = False
    """Whether a micro-batch that runs again after a crash leaves each row once."""
    counts_partitions: bool = False
    """Whether the place itself has partitions, which can be counted there."""
    has_partitions: bool = False
    """Whether its rows are partitioned by their key, as the option `partitions` says."""
    spark_writes: Callable[[Options], bool] = never
    """Whether a sink writes its rows that Spark does not ship."""
    real_time: Callable[[Options], str | None] = never_in_real_time
    """Why Spark does not read or write there in real time, None if it does."""
    rate_option: str = RATE
    """For a connector that reads streams: the option that says how many rows arrive per second."""
    column_options: tuple[ConnectorOption, ...] = ()
    """What can be said of each column: its option `min` is written `fields.price.min` for the column `price`."""
    check: Callable[..., None] = accept
    """Takes what `accept` takes. Raises CompileError for columns that it cannot hold under these options."""
    place: Callable[[Options], str | None] = no_place
    """The place that the options name, None if no other declaration can name it. Equal places are the same."""
    list_places: Callable[[Options], tuple[str, ...]] | None = None
    """The places that a reader reads, where it is not just the one that the options name."""
    sees: Callable[[str, str], bool] = sees_same
    """Whether who reads at the first place reads what is written to the second one."""
    list_hosts: Callable[[str], list[str]] | None = None
    """The hosts that an address names, in small letters, if it is not one of PostgreSQL. May raise ValueError."""
    has_header: Callable[[Options], bool] = no_header
    """Whether the first record of each file names the columns."""

    @property
    def options(self) -> tuple[ConnectorOption, ...]:
        partitions = (PARTITIONS,) if self.has_partitions else ()
        rate = (_DECLARED_RATE,) if self.reads_stream and self.rate_option == RATE else ()
        return (*self.own_options, *partitions, *rate)

    @property
    def is_source(self) -> bool:
        return self.reads_stream or self.reads_table

    @property
    def is_sink(self) -> bool:
        return self.appends or self.upserts

    @property
    def defaults(self) -> dict[str, Value]:
        """The values of the options that have one where they are not set."""
        return {each.name: each.default for each in self.options if each.default is not None}

    def list_read(self, options: Options) -> tuple[str, ...]:
        """The places that a reader with these options reads."""
        if self.list_places is not None:
            return self.list_places(options)
        place = self.place(options)
        return () if place is None else (place,)

    def find_option(self, name: str) -> ConnectorOption | None:
        """The option of that name in small letters, which may be an option of a column."""
        head, _, rest = name.partition(".")
        column, _, last = rest.rpartition(".")
        if head == FIELDS and column:
            return next((each for each in self.column_options if each.name == last), None)
        return next((each for each in self.options if each.name == name), None)

    def list_options(self) -> list[str]:
        """The names of all options, as messages list them."""
        return [each.name for each in self.options] + [f"{FIELDS}.….{each.name}" for each in self.column_options]

    def takes(self, option: str) -> bool:
        """Whether it has an option of that name."""
        return any(each.name == option for each in self.options)
