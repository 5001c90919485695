"""What names stand for: declared places, derived relations, views."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import ClassVar, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from penstock.diagnostics import CompileError, Diagnostic, Span, nearest
from penstock.diagnostics.codes.kinds import K012
from penstock.diagnostics.source import Placed
from penstock.parser import ast, name_text
from penstock.planner.connectors import MEMORY
from penstock.planner.plan import Column, Named, Node, OneRow, Origin, Project, RunningQuery, Shape, Sink
from penstock.planner.plan.walk import walk

Kind = Literal["STREAM", "TABLE", "VIEW"]
OPERATION, SEQUENCE, RETENTION = "operation", "sequence", "retention"
BATCH_MODE = "batch_mode"
PLANNED = ("partitions", OPERATION, SEQUENCE, RETENTION)
"""Options that the plan holds by itself."""


class Declared(Placed, frozen=True):
    """CREATE STREAM or TABLE with columns: an outside place.

    `items`: all columns, also the computed ones, over the columns of the origin. Empty if none is computed.
    `statement`: the declaration, with LIKE replaced by what it means.
    """

    kind: Literal["STREAM", "TABLE"]
    name: str
    origin: Origin
    items: tuple[Named, ...]
    span: Span
    statement: ast.Create

    UNCOUNTED: ClassVar[frozenset[str]] = frozenset({"span", "statement"})

    def place_items(self, node: Node) -> Node:
        """Adds the computed columns of the relation to `node`, which has the rows of the origin."""
        if not self.items:
            return node
        nullable = {each.name: each.nullable for each in node.schema}
        schema = tuple(Column(each.name, each.type, nullable.get(each.name, True)) for each in self.items)
        return Project(schema=schema, shape=node.shape, span=node.span, input=node, items=self.items)


class Derived(Placed, frozen=True):
    """CREATE STREAM, TABLE or VIEW … AS: `node` is planned into whatever reads it.

    `reads`: the derived streams that the definition uses itself, in lower case. `statement`: the definition as written.
    `sink`: where its rows go, None of a view.
    """

    kind: Kind
    name: str
    node: Node
    reads: frozenset[str]
    span: Span
    statement: ast.CreateAs | ast.CreateView
    sink: Sink | None = None

    UNCOUNTED: ClassVar[frozenset[str]] = frozenset({"span", "statement"})

    @property
    def is_constant(self) -> bool:
        """Whether it is a view that reads nothing, which only reads can use."""
        return self.kind == "VIEW" and any(isinstance(each, OneRow) for each in walk(self.node))

    @property
    def query(self) -> ast.Query:
        """Its definition, without the names that CREATE VIEW gives to the columns."""
        return self.statement.query

    @property
    def columns(self) -> tuple[ast.Name, ...]:
        """The names that CREATE VIEW gives to the columns."""
        return self.statement.columns if isinstance(self.statement, ast.CreateView) else ()


class Broken(Placed, frozen=True):
    """A name whose definition was refused: what uses it is left unchecked instead of refused once more."""

    kind: Kind
    name: str
    span: Span


Entry: TypeAlias = Declared | Derived | Broken


class UsesBroken(Exception):
    """The statement needs a name whose own definition was refused: nothing new can be said of it."""


def keep_in_memory(name: str, shape: Shape) -> Sink:
    """The home of a process that shows its rows to nobody else."""
    return Sink(name, MEMORY.name, ())


class Catalog(msgspec.Struct, frozen=True):
    """Entries by name, without regard to case, in order of creation. `with_` and `without` make new catalogs."""

    entries: Mapping[str, Entry] = msgspec.field(default_factory=lambda: MappingProxyType({}))
    running: tuple[RunningQuery, ...] = ()
    """The queries that earlier scripts have started. Names and files that they use are taken."""
    taken: frozenset[str] = frozenset()
    """More names that queries must not have, in lower case."""
    counts: Mapping[str, int] = msgspec.field(default_factory=lambda: MappingProxyType({}))
    """How many partitions places have that were asked, by the lower-case names of their relations."""
    home: Callable[[str, Shape], Sink] = keep_in_memory
    """Where the rows of a derived stream or table go that names no place. Takes its name and its shape."""

    def find(self, name: str) -> Entry | None:
        return self.entries.get(name.lower())

    def require(self, name: ast.Name, beside: Iterable[str] = ()) -> Declared | Derived:
        """What the name stands for; raises CompileError for an unknown one, UsesBroken for one that was refused.

        `beside`: other names that may have been meant.
        """
        entry = self.find(name.text)
        if entry is None:
            raise CompileError([explain_unknown(name, name.text, [*beside, *self.names()])])
        if isinstance(entry, Broken):
            raise UsesBroken(entry.name)
        return entry

    def count_partitions(self, place: Origin | Sink) -> int | None:
        """The declared number of partitions, else the counted one. None: its rows have no place that is known.

        Rows of an origin without a key may be anywhere, so its partitions say nothing.
        """
        if place.partitions is not None or not (place.key or isinstance(place, Sink)):
            return place.partitions
        return self.counts.get(place.name.lower())

    def names(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.entries.values())

    def with_(self, entry: Entry) -> Catalog:
        """A catalog in which the entry's name stands for `entry`."""
        return replace(self, entries=MappingProxyType({**self.entries, entry.name.lower(): entry}))

    def without(self, name: str) -> Catalog:
        return replace(self, entries=MappingProxyType({k: v for k, v in self.entries.items() if k != name.lower()}))


# Words that other systems have where a name stands here.
_OTHER_NAMES = {
    "STREAM": "STREAM stands behind SELECT: SELECT STREAM * FROM the name",
    "ONLY": "leave out ONLY: a table is one by itself",
    **{word: f"SHOW {word}" for word in ("STREAMS", "TABLES", "VIEWS", "QUERIES", "FUNCTIONS")},
}


def explain_unknown(name: ast.Name, text: str, known: Iterable[str]) -> Diagnostic:
    """The finding that a name, shown as `text`, stands for nothing, with the known one that may be meant."""
    special = _OTHER_NAMES.get(name.text.upper())
    if special is not None:
        return K012.at(name.span, "", name=text).with_hint(special)
    guess = nearest(name.text, list(known))
    return K012.at(name.span, "", name=text).with_guess(guess and name_text(guess))
