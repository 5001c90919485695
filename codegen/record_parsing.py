"""How the records of an input become rows: Spark SQL that is made when a query is lowered, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

Path: TypeAlias = tuple[str, ...]
"""A column, or a column and a field within it."""
Columns: TypeAlias = Sequence[tuple[str, str]]
"""Names, and types as Spark writes them."""
KEY, VALUE = "key", "value"
"""The parts of a message."""
HEADERS = "headers"
"""The headers of a message, which are read only where a column asks for them."""
BITS = 60
"""How many fields are in one number."""
HAVE, RECORDS, NAMES = "have", "records", "names"
"""The metrics: the bits, numbered from 0 on; how many sound records there are; and the record without its values."""
WATCHED = "_fields"
"""The column that metrics look at."""


@dataclass(frozen=True, slots=True)
class FieldWatch:
    """What is observed of the fields of records.

    `paths`: the fields, in the order of their bits. `item` makes the column `WATCHED` of the columns of a record that
    was parsed. `metrics` are aggregates over it, by name.
    """

    paths: tuple[Path, ...]
    item: str
    metrics: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Records:
    """Spark SQL that makes columns of records.

    Each of `steps` adds columns to the columns before it, first to the column `value`, a record's text. In the last
    step, `items` are the declared columns. `malformed` is the record's text if the record does not fit these
    columns, else NULL. Records of Parquet are no text but structs, `_record`, of the declared columns, which are
    read by `schema`. `place` grows from record to record of a file.
    """

    steps: tuple[tuple[str, ...], ...]
    items: tuple[str, ...]
    malformed: str
    schema: str = ""
    # Within a part of a file the number grows; its upper bits, the number of the task, do not.
    place: str = "STRUCT(_metadata.file_block_start AS part, MONOTONICALLY_INCREASING_ID() AS record)"
    origin: tuple[str, ...] = ()
    """What has to be known of a record's file, beside its path and its time."""
    folders: tuple[str, ...] = ()
    """The columns that the folders of a record's file may have values of."""
    why: str = ""
    """Spark SQL for the reason why the record is malformed, NULL for a sound one, maybe for others, too."""
    watch: FieldWatch | None = None
    """For JSON: what is observed of the fields that records have."""


@dataclass(frozen=True, slots=True)
class MessagePart:
    """The key or the value of a message, which become columns."""

    text: str
    """Spark SQL that makes the column `value` of the message."""
    fields: tuple[str, ...] | None
    """The fields of CSV, which the steps expect in `_parsed`; None of other formats."""
    steps: tuple[tuple[str, ...], ...]
    """The items of one SELECT after the other."""
    avro: Columns | None = None
    """The fields of Avro, which the steps expect in `_decoded`; None of other formats."""


@dataclass(frozen=True, slots=True)
class Messages:
    """How the messages of a topic become rows: the parts in order, then a SELECT of the items."""

    parts: tuple[MessagePart, ...]
    items: tuple[str, ...]
    watch: FieldWatch | None = None
    """For values in JSON: what is observed of the fields that they have."""


@dataclass(frozen=True, slots=True)
class Parsing:
    """How the records of one input become rows."""

    records: Records | None = None
    """For files."""
    messages: Messages | None = None
    """For topics."""
    watch: FieldWatch | None = None
    """What is observed of the fields; None where records have no names, or none that could be wrong."""
    avro: tuple[tuple[str, Columns], ...] = ()
    """The columns in the key and in the value of messages, as far as these are Avro."""
    has_header: bool = False
    """Whether the first record of each file names the columns."""
