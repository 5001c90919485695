"""Queries as others see them: what became of their rows, what their tables came to, and why rows do not come out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from penstock.diagnostics import Diagnostic
from penstock.runtime.progress.table_reports import LookupReport, TableReport

Cause: TypeAlias = Literal[
    "held",
    "paused",
    "replacing",
    "retrying",
    "starting",
    "no_rows",
    "all_left_out",
    "unseen_fields",
    "silent",
    "behind",
    "no_result",
    "not_final",
    "state_grows",
    "some_left_out",
    "no_new_rows",
]
CAUSES: tuple[Cause, ...] = get_args(Cause)
"""What matters most comes first."""
Number: TypeAlias = int | float | str


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that holds back rows of a query.

    text: sentences for people; the last one says what helps, if anything does. numbers: what it is about, by names.
    Times are texts in ISO 8601, stretches of time are in seconds.
    """

    cause: Cause
    text: str
    numbers: Mapping[str, Number] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UnseenFields:
    """Declared fields that no record of an input has had.

    `records`: how many were looked at. `columns`: the names, each with the name in the records that may be meant.
    `others`: names in the records that no column takes, as far as they were looked at. `is_all`: no record has had
    any declared field.
    """

    records: int
    columns: tuple[tuple[str, str | None], ...]
    others: tuple[str, ...]
    is_all: bool


@dataclass(frozen=True, slots=True)
class InputAccount:
    """The account of one input, in rows: `read == rejected + late + filtered + used`.

    `rejected_to`: where the rejected rows were written, a folder or the name of a memory sink; None if there were none.
    """

    name: str
    read: int
    rejected: int
    late: int
    filtered: int
    used: int
    rejected_to: str | None = None
    unseen: UnseenFields | None = field(default=None, compare=False)
    """None if each declared field has been seen, or the records have no names."""


@dataclass(frozen=True, slots=True)
class QueryReport:
    """A run of a query from its start to the end of its input.

    `out`: rows written. `state_rows`: rows that its operators hold for the next run, 0 if stateless. `drained`: the
    input was taken as complete, so that no window is left open. `watermark`: the last one, None without event time.
    """

    name: str
    inputs: tuple[InputAccount, ...]
    out: int
    batches: int
    state_rows: int
    watermark: datetime | None
    drained: bool
    table: TableReport | None = None
    """For a query that changes a table of a database."""
    lookups: tuple[LookupReport, ...] = ()
    """One for each table of a database that the query looks rows up in."""
    reasons: tuple[Reason, ...] = ()
    """Why the query wrote nothing, if so."""
    warnings: tuple[Diagnostic, ...] = ()
    """What was found about its inputs."""


@dataclass(frozen=True, slots=True)
class BatchMark:
    """A query at the end of a micro-batch. `out`: the rows written since it was started here."""

    state_rows: int
    out: int


@dataclass(frozen=True, slots=True)
class Status:
    """A query as it is now.

    Counts are since the query was started here: `rows` were read, `out` were written. `batch_seconds`: how long the
    last batch took.
    """

    name: str
    running: bool
    batches: int
    rows: int
    late: int
    rejected: int
    out: int
    state_rows: int
    watermark: datetime | None
    batch_seconds: float | None
    state_bytes: int = 0
    """What Spark says that the state takes in memory."""
    read_rate: float = 0.0
    """The rows per second that were read in the last half minute."""
    written_rate: float = 0.0
    """The rows per second that were written in the last half minute."""
    newest: Mapping[str, datetime] = field(default_factory=dict)
    """The newest event time by input, of inputs that the watermark depends on."""
    inputs: tuple[InputAccount, ...] = ()
    retrying: str | None = None
    """Why the last attempt to write failed, while the query waits to try again."""
    table: TableReport | None = None
    """For a query that changes a table of a database."""
    lookups: tuple[LookupReport, ...] = ()
    """One for each table of a database that the query looks rows up in."""
    started: datetime | None = None
    """When the query was started here, by the clock of the machine; None before."""
    has_looked: bool = False
    """Whether the query has looked for rows at least once since."""
    oldest: datetime | None = None
    """The oldest event time of the rows of an input that the watermark depends on."""
    heard: Mapping[str, datetime] = field(default_factory=dict)
    """When the last micro-batch with rows of an input began."""
    recent: tuple[BatchMark, ...] = ()
    """The last micro-batches, the newest one last."""
    retrying_since: datetime | None = None
    """When the first of the attempts failed that have failed without a success since."""
    warnings: tuple[Diagnostic, ...] = ()
    """What was found about its inputs."""
    error: Diagnostic | None = None
    """Why the query has ended by itself, with its code and message; None while it runs, or if it was stopped."""
