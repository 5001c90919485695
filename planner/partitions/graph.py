"""What reads what in a script, as far as partitions go: streams, joins, tables; and which streams meet in which join.

A stream is rows that are spread over partitions in one way: an outside one, or the result of a PARTITION BY or of a
GROUP BY. Operators that leave the rows where they are do not show. A stream *meets* in every join that its rows reach
before another stream takes them up. Statements that fill a table are followed into every join with that table, and so
are the table's side inputs.

Source: Apache Samza, SEP-16.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

from penstock.diagnostics import Span

T = TypeVar("T")


class Role(Enum):
    """What a stream is: declared, made by PARTITION BY, made by GROUP BY, only written."""

    OUTSIDE = "outside"
    REKEYED = "PARTITION BY"
    GROUPED = "GROUP BY"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Stream:
    """`partitions`: the declared count. `into`: that of INTO n PARTITIONS. `key`: what it is partitioned by, as text.

    An outside stream without a count, and the result of a GROUP BY, can be spread anew by every join that reads them.
    """

    name: str
    role: Role
    partitions: int | None = None
    into: int | None = None
    key: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Join:
    """A join, of two streams or of one with `table`."""

    name: str
    table: str | None = None


@dataclass(frozen=True, slots=True)
class Graph:
    """Streams and joins by identifiers of their own.

    `readers`: what takes up the rows of a stream, a join or a fill. `fills`: statements that fill a table, and which.
    `side_inputs`: the streams that a table is kept up to date from, by the table's name.
    """

    streams: Mapping[str, Stream]
    joins: Mapping[str, Join]
    readers: Mapping[str, Collection[str]]
    fills: Mapping[str, str] = field(default_factory=dict)
    side_inputs: Mapping[str, Collection[str]] = field(default_factory=dict)


def reached(starts: Iterable[T], following: Callable[[T], Iterable[T]]) -> list[T]:
    """The starts and all that follows from them, each once, the nearest first. Cycles end."""
    found = list(dict.fromkeys(starts))
    seen = set(found)
    for each in found:
        for one in following(each):
            if one not in seen:
                seen.add(one)
                found.append(one)
    return found


def meetings(graph: Graph) -> dict[str, tuple[str, ...]]:
    """The streams that meet in each join, joins and streams in the order of the graph."""
    roots = [name for name, stream in graph.streams.items() if stream.role is not Role.OUTPUT]
    joins_with: dict[str, list[str]] = {}
    for each in reached(roots, lambda vertex: graph.readers.get(vertex, ())):
        if each in graph.joins and (table := graph.joins[each].table) is not None:
            joins_with.setdefault(table, []).append(each)

    def carried(vertex: str) -> Iterable[str]:
        """Where the rows go on to, a filled table's into the joins with it."""
        if vertex in graph.fills:
            return joins_with.get(graph.fills[vertex], ())
        return (reader for reader in graph.readers.get(vertex, ()) if reader not in graph.streams)

    met: dict[str, dict[str, None]] = {join: {} for join in graph.joins}
    for stream in roots:
        behind = (join for table, inputs in graph.side_inputs.items() if stream in inputs for join in joins_with[table])
        for vertex in reached([*carried(stream), *behind], carried):
            if vertex in met:
                met[vertex][stream] = None
    return {join: tuple(streams) for join, streams in met.items()}
