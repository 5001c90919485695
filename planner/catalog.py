"""What names stand for: declared places, derived relations, views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

from penstock.diagnostics import Span
from penstock.parser import ast
from penstock.planner.plan import Node, Origin, Sink

Kind = Literal["STREAM", "TABLE", "VIEW"]
OPERATION, SEQUENCE, RETENTION = "operation", "sequence", "retention"
PLANNED = ("partitions", OPERATION, SEQUENCE, RETENTION)
"""Options that the plan holds by itself."""


@dataclass(frozen=True, slots=True)
class Declared:
    """CREATE STREAM or TABLE with columns: an outside place."""

    kind: Literal["STREAM", "TABLE"]
    name: str
    origin: Origin
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Derived:
    """CREATE STREAM, TABLE or VIEW … AS: `node` is planned into whatever reads it.

    `reads`: the derived streams that the definition uses itself, in lower case. `query`: the definition as written.
    `sink`: where its rows go, None of a view.
    """

    kind: Kind
    name: str
    node: Node
    reads: frozenset[str]
    span: Span = field(compare=False, repr=False)
    query: ast.Query = field(compare=False, repr=False)
    sink: Sink | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """A name whose definition was refused: what uses it is left unchecked instead of refused once more."""

    kind: Kind
    name: str
    span: Span = field(compare=False, repr=False)


Entry: TypeAlias = Declared | Derived | Broken


@dataclass(frozen=True, slots=True)
class Catalog:
    """Entries by name, without regard to case, in order of creation. `with_` and `without` make new catalogs."""

    entries: Mapping[str, Entry] = field(default_factory=lambda: MappingProxyType({}))

    def find(self, name: str) -> Entry | None:
        return self.entries.get(name.lower())

    def names(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.entries.values())

    def with_(self, entry: Entry) -> Catalog:
        """A catalog in which the entry's name stands for `entry`."""
        return Catalog(MappingProxyType({**self.entries, entry.name.lower(): entry}))

    def without(self, name: str) -> Catalog:
        return Catalog(MappingProxyType({k: v for k, v in self.entries.items() if k != name.lower()}))
