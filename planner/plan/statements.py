"""What a script asks for: queries to keep running, and answers to give at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from penstock.diagnostics.source import Span
from penstock.planner.plan.aggregate import Emission
from penstock.planner.plan.node import Node


@dataclass(frozen=True, slots=True)
class Sink:
    """Where rows go: a connector with checked options. `name` is what the user calls the place."""

    name: str
    connector: str
    options: tuple[tuple[str, str | int | bool], ...]


@dataclass(frozen=True, slots=True)
class RunningQuery:
    """A plan to keep running.

    With `emission` FINAL rows are only ever added. With CHANGES a row replaces the one before of the same `key`, at
    most once in `every` milliseconds where that is set.
    """

    name: str
    root: Node
    sink: Sink
    emission: Emission
    key: tuple[str, ...]
    span: Span = field(compare=False, repr=False)
    every: int | None = None


class StateStore(Enum):
    """Where Spark keeps an operator's state: on the heap of the JVM, or in RocksDB on the disks."""

    MEMORY = "memory"
    ROCKSDB = "rocksdb"


@dataclass(frozen=True, slots=True)
class Settings:
    """What SET can change.

    `state_partitions`: the number of partitions of every stateful operator's state. `state_store`: where all state is
    kept; None leaves it to the rule of `planner.state`.
    """

    state_partitions: int = 4
    state_store: StateStore | None = None


DEFAULTS = Settings()


@dataclass(frozen=True, slots=True)
class Listing:
    """The answer to SHOW or DESCRIBE: rows of text under headings."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Explained:
    """EXPLAIN: the stage asked for (None: the default), and what the statement would run."""

    stage: str | None
    syntax: str
    queries: tuple[RunningQuery, ...]
    settings: Settings


Answer: TypeAlias = Listing | Explained
