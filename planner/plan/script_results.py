"""What a script asks for: queries to keep running, and answers to give at once."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from penstock.diagnostics.source import Placed, Span
from penstock.planner.plan.aggregate import Emission
from penstock.planner.plan.change import RowChange
from penstock.planner.plan.node import Node
from penstock.planner.plan.script_settings import Settings
from penstock.planner.plan.secret_option import Options


class Sink(msgspec.Struct, frozen=True):
    """Where rows go: a connector with checked options. `name` is what the user calls the place.

    `partitions`: its declared number of partitions, None if that is not declared. `key`: the columns by which its rows
    are partitioned or identified, empty if none are known. `time`: the event time of its rows, None if they have none.
    `table`: whether its rows belong to a table.
    """

    name: str
    connector: str
    options: Options
    partitions: int | None = None
    key: tuple[str, ...] = ()
    time: str | None = None
    table: bool = False


class RunningQuery(Placed, frozen=True):
    """A plan to keep running.

    With `emission` FINAL rows are only ever added. With CHANGES a row replaces the one before of the same `key`, at
    most once in `every` milliseconds where that is set. `timed`: it writes a stream that is read by its event time, so
    that no row may be late there.
    """

    name: str
    root: Node
    sink: Sink
    emission: Emission
    key: tuple[str, ...]
    span: Span
    every: int | None = None
    timed: bool = False
    change: RowChange | None = None
    """How each row changes a table that others own, too; None for other sinks."""


class Listing(msgspec.Struct, frozen=True):
    """The answer to SHOW or DESCRIBE: rows of text under headings."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Explained(msgspec.Struct, frozen=True):
    """EXPLAIN: the stage asked for (None: the default), and what the statement would run.

    `partitions`: the text of EXPLAIN PARTITIONS where that is asked for, which depends on the whole script.
    """

    stage: str | None
    syntax: str
    queries: tuple[RunningQuery, ...]
    settings: Settings
    partitions: str = ""


Answer: TypeAlias = Listing | Explained
