"""Views that Spark's Python workers compute: rows in tables, and what DuckDB answers over these. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class PackedView:
    """A temporary view of tables of rows, which Spark's Python workers make: a few Spark rows for many of the stream.

    The view `source` has a struct `row` and its event time `time`. Its other columns are numbers or booleans, and never
    NULL. The rows of a micro-batch that agree in these columns make a table, but a cut between two times separates
    them. Instead of `row` this view has `rows`, a table. Its `time` is the newest one of the table, NULL without cuts.
    """

    name: str
    source: str
    length: int
    """The microseconds from one cut to the next."""
    cuts: tuple[int, ...]
    """Where cuts begin, in microseconds since 1970: at each of these times, and every `length` from there."""
    schema: str
    """A Spark SELECT that has the names and types of the columns. It is never run."""


@dataclass(frozen=True, slots=True)
class PartialView:
    """A temporary view of tables of partial aggregates, which DuckDB computes in Spark's Python workers.

    The view `source` comes from a PackedView. DuckDB queries a table `rows` with these columns: the number `place` of
    each row, its `bucket`, its `time` in microseconds, and the fields `given`.
    """

    name: str
    source: str
    length: int
    cuts: tuple[int, ...]
    """These two are as in a PackedView."""
    sql: str
    """The query that answers with the `place` of one row of each group, and its partial aggregates."""
    given: tuple[str, ...]
    """The fields of the rows that DuckDB sees."""
    kept: tuple[str, ...]
    """The first fields of the rows in the tables: these of the row at `place`. The aggregates follow."""
    schema: str
    """A Spark SELECT that has the names and types of the columns. It is never run."""


@dataclass(frozen=True, slots=True)
class PaneView:
    """A temporary view that DuckDB computes in Spark's Python workers from the panes of another view.

    The view `source` has a time `begin`, a number `bucket`, and `tables`, an array of tables of rows. A pane is the set
    of rows of one begin and bucket. DuckDB queries a table `rows` with these columns: the number `place` of each row,
    the number of its `pane`, the `begin` of the pane, and the fields `given`. Times and intervals are microseconds.
    """

    name: str
    source: str
    order: str | None
    """A query that is run first, if any. Its answer has each `place` in a new order, and a new number of its `pane`."""
    sql: str
    """The query that answers with `place` and the columns that the functions compute."""
    given: tuple[str, ...]
    """The fields of the rows that DuckDB sees."""
    kept: tuple[str, ...]
    """The first columns of the view: these fields of the rows at the answered places. The answered columns follow."""
    picked: tuple[tuple[str, str], ...]
    """Answered columns that hold a place, each with a field. The view has that field of the row at that place."""
    schema: str
    """A Spark SELECT that has the names and types of the columns. It is never run."""


@dataclass(frozen=True, slots=True)
class BucketView:
    """A temporary view that DuckDB computes in Spark's Python workers from buckets of rows that are remembered.

    The view `source` has a number `bucket`, an event time `time`, and `rows`, a table. The rows of a bucket wait until
    the watermark has passed them. Then DuckDB runs `order` and `sql` over these final rows and the remembered ones.
    """

    name: str
    source: str
    order: str
    """A query that answers with the `place` of each row in the order of frames, and the number of its `pane`."""
    sql: str
    """As in a PaneView, over the rows in that order. The column `new` is true in rows that have just become final."""
    time: str
    """The field that the watermark has to pass."""
    back: int
    """How many of the last rows of each pane are remembered."""
    given: tuple[str, ...]
    kept: tuple[str, ...]
    picked: tuple[tuple[str, str], ...]
    schema: str
    """These four are as in a PaneView."""
    only: str | None = None
    """A field that is true in the rows that may be remembered. None: all rows may be."""


@dataclass(frozen=True, slots=True)
class LookupView:
    """A temporary view that DuckDB computes in Spark's Python workers from arriving rows and the kept rows of a table.

    The view `source` has a number `bucket`, an unused `time`, and `rows`, a table. In each micro-batch DuckDB runs
    `newest` and then `sql` over the kept rows of a bucket and the rows that have arrived.
    """

    name: str
    source: str
    newest: str
    """A query over `place` and the fields `given`. It answers with the `place` of each row that is kept from now on."""
    sql: str
    """As in a PaneView. `known` is true in rows kept before, and `newest` in rows kept from now on."""
    given: tuple[str, ...]
    kept: tuple[str, ...]
    picked: tuple[tuple[str, str], ...]
    schema: str
    """These four are as in a PaneView."""


@dataclass(frozen=True, slots=True)
class MultisetView:
    """A temporary view that DuckDB computes in Spark's Python workers from arriving rows and the kept rows.

    The view `source` has a number `bucket`, an unused `time`, and `rows`, a table. In each micro-batch DuckDB runs
    `fold` over the kept rows of a bucket and the rows that have arrived, and `sql` over the rows kept from now on.
    """

    name: str
    source: str
    fold: str
    """A query over `place`, `known`, which is true in rows kept before, and the fields `given`.

    It answers with the `place` of each row that is kept from now on, and new values of some of its fields.
    """
    sql: str
    """As in a PaneView, over the kept rows. It has all columns that `fold` answers with, beside the fields `given`."""
    given: tuple[str, ...]
    kept: tuple[str, ...]
    picked: tuple[tuple[str, str], ...]
    schema: str
    """These four are as in a PaneView."""


@dataclass(frozen=True, slots=True)
class SessionView:
    """A temporary view that DuckDB computes in Spark's Python workers from arriving rows and the sessions of others.

    The view `source` has a number `bucket`, an event time `time`, and `rows`, a table. The fields `start` and `end` are
    the session of a row. In each micro-batch DuckDB runs `merge` over the kept rows of a bucket and the arriving
    rows, and `sql` over its answer. Rows are kept until the watermark has passed their `end`.
    """

    name: str
    source: str
    merge: str
    """A query over `place`, `known`, which is true in rows kept before, and the fields `given`.

    It answers with the `place` of each row of a session, and new values of some of its fields. `after` is true in rows
    of sessions that there are now.
    """
    sql: str
    """As in a PaneView, over these rows. It has all columns that `merge` answers with, beside the fields `given`."""
    given: tuple[str, ...]
    kept: tuple[str, ...]
    picked: tuple[tuple[str, str], ...]
    schema: str
    """These four are as in a PaneView."""


BucketedView: TypeAlias = BucketView | LookupView | MultisetView | SessionView
"""What DuckDB computes from buckets with state."""
