"""Statements of tests: TEST, GIVEN and THEN."""

from __future__ import annotations

from enum import Enum
from typing import ClassVar, TypeAlias

from penstock.diagnostics.source import Placed, Span
from penstock.parser.ast.base import Name, Scalar
from penstock.parser.ast.intervals import Duration


class Text(Placed, frozen=True):
    """A string of a statement, with its place."""

    text: str
    span: Span


class BeginTest(Placed, frozen=True):
    """`TEST 'name' OF 'script.sql' [AT 'time']`. `at`: the time from which times such as '9:30' are counted.

    `scripts`: files that are read as one script.
    """

    name: Text
    scripts: tuple[Text, ...]
    at: Text | None
    span: Span


class RowValue(Placed, frozen=True):
    """`(1, 'lamp', '0:00')`."""

    values: tuple[Scalar, ...]
    span: Span


class RowValues(Placed, frozen=True):
    """`VALUES (…), (…)`, or NOTHING, which has no rows."""

    rows: tuple[RowValue, ...]
    span: Span


class RowFile(Placed, frozen=True):
    """`FROM 'rows.csv'`."""

    path: Text
    span: Span


RowSource: TypeAlias = RowValues | RowFile


class GivenRows(Placed, frozen=True):
    """`GIVEN relation (columns) VALUES …`: rows that arrive. `table`: the rows that a table of a database has now."""

    relation: Name
    columns: tuple[Name, ...]
    rows: RowSource
    table: bool
    span: Span


class Moment(Placed, frozen=True):
    """`orders '9:00'`: a stream, and how far its watermark has come."""

    relation: Name
    time: Text
    span: Span


class GivenWatermark(Placed, frozen=True):
    moments: tuple[Moment, ...]
    span: Span


class GivenSilence(Placed, frozen=True):
    """`GIVEN SILENCE OF payments FOR INTERVAL '1' MINUTE`."""

    relation: Name
    length: Duration
    span: Span


class GivenEnd(Placed, frozen=True):
    """The end of the input."""

    span: Span


class RowsOf(Enum):
    """Which rows of a relation are expected: its own, or the rows of an input that are late or rejected."""

    RESULT = "RESULT"
    LATE = "LATE"
    REJECTED = "REJECTED"


class ThenRows(Placed, frozen=True):
    of: RowsOf
    relation: Name
    columns: tuple[Name, ...]
    rows: RowSource
    span: Span


class ChangedRow(Placed, frozen=True):
    """`+ (…)` or `- (…)`: a row that is added to a table, or removed from it."""

    added: bool
    row: RowValue
    span: Span


class ThenChanges(Placed, frozen=True):
    """`THEN totals (product, total) CHANGES - ('desk', 0), + ('desk', 40)`: what a table sent in this step."""

    relation: Name
    columns: tuple[Name, ...]
    changes: tuple[ChangedRow, ...]
    listed: Span
    """The place of the changes, or of NOTHING."""
    span: Span

    UNCOUNTED: ClassVar[frozenset[str]] = frozenset({"span", "listed"})


class ThenState(Placed, frozen=True):
    """`THEN STATE OF paid AT MOST 2 ROWS`."""

    relation: Name
    most: int
    span: Span


class ThenFails(Placed, frozen=True):
    """`THEN FAILS R020`: an expression fails for a row of this step."""

    code: Name
    span: Span


class ThenRefused(Placed, frozen=True):
    """`THEN REFUSED J001`: the script is refused."""

    code: Name
    span: Span


Given: TypeAlias = GivenRows | GivenWatermark | GivenSilence | GivenEnd
Then: TypeAlias = ThenRows | ThenChanges | ThenState | ThenFails | ThenRefused
TestStatement: TypeAlias = BeginTest | Given | Then
