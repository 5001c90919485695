"""What reads what in a script, as far as partitions go: streams, joins, tables; and which streams meet in which join.

A stream is rows that are spread over partitions in one way. It is an outside stream, a table that is read, or the
result of PARTITION BY or GROUP BY. Operators that leave the rows where they are do not show. A stream *meets* in every
join that its rows reach before another stream takes them up. A statement that fills a table is a vertex of its own, and
what reads the table reads it, too.

Source: Apache Samza, SEP-16.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from enum import Enum
from typing import TypeVar

import msgspec

from penstock.diagnostics import Span
from penstock.diagnostics.source import Placed

T = TypeVar("T")


class Role(Enum):
    """What a stream is: declared, made by PARTITION BY, made by GROUP BY, only written."""

    OUTSIDE = "outside"
    REKEYED = "PARTITION BY"
    GROUPED = "GROUP BY"
    OUTPUT = "output"


class Stream(Placed, frozen=True):
    """`partitions`: the declared count. `into`: the count of INTO n PARTITIONS. `key`: what it is partitioned by, as
    text.

    An outside stream without a count, and the result of a GROUP BY, can be spread anew by every join that reads them.
    """

    name: str
    role: Role
    partitions: int | None = None
    into: int | None = None
    key: str = ""
    is_counted: bool = False
    """Whether the count was asked for at the place, and is not declared."""
    span: Span | None = None


class Graph(msgspec.Struct, frozen=True):
    """Streams and joins by identifiers of their own.

    `joins`: what each is called. `readers`: what takes up the rows of a stream, a join or a fill.
    """

    streams: Mapping[str, Stream]
    joins: Mapping[str, str]
    readers: Mapping[str, Collection[str]]

    def onward(self, vertex: str) -> list[str]:
        """Where rows go on to as they are partitioned."""
        return [reader for reader in self.readers.get(vertex, ()) if reader not in self.streams]


def reach_from(starts: Iterable[T], following: Callable[[T], Iterable[T]]) -> list[T]:
    """The starts and all that follows from them, each once, the nearest first. Cycles end."""
    vertices = list(dict.fromkeys(starts))
    seen = set(vertices)
    for each in vertices:
        for one in following(each):
            if one not in seen:
                seen.add(one)
                vertices.append(one)
    return vertices


def find_join_streams(graph: Graph) -> dict[str, tuple[str, ...]]:
    """The streams that meet in each join, joins and streams in the order of the graph."""
    join_streams: dict[str, list[str]] = {join: [] for join in graph.joins}
    for name, stream in graph.streams.items():
        if stream.role is not Role.OUTPUT:
            for vertex in reach_from(graph.onward(name), graph.onward):
                if vertex in join_streams:
                    join_streams[vertex].append(name)
    return {join: tuple(streams) for join, streams in join_streams.items()}
