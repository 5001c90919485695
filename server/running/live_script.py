"""What a server has been told so far: a script that grows and shrinks by whole statements. No Spark is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.compilation import Compilation, compile, compile_sources
from penstock.diagnostics import CompileError, Source
from penstock.diagnostics.codes.kinds import K012, K015
from penstock.diagnostics.codes.server import V001, V006, V012
from penstock.parser import ast, list_statements, name_text
from penstock.planner import Catalog
from penstock.planner.catalog import Declared
from penstock.planner.connectors import connector_of
from penstock.planner.plan import Listing, RunningQuery, Shape, Sink

N = TypeVar("N", ast.Table, ast.Late, ast.Select)
MAKING = (ast.Create, ast.CreateAs, ast.CreateView)
"""Statements that make a relation."""
SHOWN = "shown_"
"""Begins the name of a table that is made only to be renamed."""


@dataclass(frozen=True, slots=True)
class LiveDefinition:
    """A statement that made a relation, or runs queries, or both."""

    number: int
    """The number of the statement in the log of the server. Later statements have greater ones."""
    text: str
    author: str
    taken: frozenset[str]
    """The names of queries that the statement could not choose, in lower case."""
    relation: str | None = None
    """The relation that it made, as written."""
    kind: str = ""
    """STREAM, TABLE or VIEW, empty without a relation."""
    reads: frozenset[str] = frozenset()
    """The relations that it names, in lower case."""
    writes: frozenset[str] = frozenset()
    """The relations among them that it writes rows into."""
    is_declared: bool = False
    """Whether its relation is a place outside of the server, as CREATE STREAM and TABLE with columns declare it."""
    connector: str = ""
    """The connector of the place outside of the server that its relation lies in. Empty: it lies in the server."""
    queries: tuple[RunningQuery, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str | None:
        """The name of its first query, which stands for all of them."""
        return self.queries[0].name if self.queries else None

    @property
    def names(self) -> frozenset[str]:
        """The relation that it made, the relations that it writes into, and its queries, in lower case."""
        made = [] if self.relation is None else [self.relation]
        return self.writes.union(name.lower() for name in (*made, *(query.name for query in self.queries)))


@dataclass(frozen=True, slots=True)
class Planned:
    """A statement that has been checked and not yet been run."""

    definition: LiveDefinition
    compilation: Compilation
    catalog: Catalog
    over: Catalog
    """What it was compiled over."""
    replaced: LiveDefinition | None = None
    """What CREATE OR REPLACE takes the place of."""


class LiveScript:
    """All statements that are in force. `plan` changes nothing; `add` and `remove` do."""

    def __init__(self, home: Callable[[str, Shape], Sink]) -> None:
        self.catalog = Catalog(home=home)
        self.definitions: dict[int, LiveDefinition] = {}

    def copy(self) -> LiveScript:
        """The same as it is now."""
        copied = LiveScript(self.catalog.home)
        copied.catalog, copied.definitions = self.catalog, dict(self.definitions)
        return copied

    def plan(
        self, statement: ast.Statement, source: Source, number: int, author: str, taken: frozenset[str]
    ) -> Planned:
        """Checks a statement that makes something. `source`: its own text. `taken`: names that queries must not have.

        Raises:
            CompileError: it is refused.
        """
        replaced = self._replaced(statement)
        catalog = self.catalog if replaced is None else self._without(replaced)
        taken |= {query.name.lower() for query in catalog.running}
        over = replace(catalog, taken=taken)
        compilation = compile_sources([source], over)
        made = compilation.statements[-1]
        queries = compilation.queries
        relation, kind = None, ""
        if isinstance(made, MAKING):
            relation = made.name.text
            kind = "VIEW" if isinstance(made, ast.CreateView) else made.kind.value
        if isinstance(made, ast.Create):
            queries = self._show(made, compilation.catalog)
        reads, writes = names_in(made), names_written(made)
        text, is_declared = source.text.strip(), isinstance(made, ast.Create)
        connector = self._find_connector(made, compilation.catalog, queries)
        definition = LiveDefinition(
            number, text, author, taken, relation, kind, reads, writes, is_declared, connector, queries
        )
        planned = replace(compilation.catalog, taken=frozenset(), running=(*catalog.running, *queries))
        return Planned(definition, compilation, planned, over, replaced)

    def plan_again(self, number: int, text: str, author: str, taken: frozenset[str]) -> Planned:
        """Plans a statement that was in force when the last engine ended."""
        [(statement, _)] = list_statements(Source("kept", text))
        return self.plan(statement, Source(f"statement {number}", text), number, author, taken)

    def add(self, planned: Planned) -> None:
        """Puts a planned statement into force. What it replaces has been removed; others may have come meanwhile."""
        definition = planned.definition
        made = None if definition.relation is None else planned.catalog.find(definition.relation)
        catalog = self.catalog if made is None else self.catalog.with_(made)
        counts = MappingProxyType({**catalog.counts, **planned.catalog.counts})
        self.catalog = replace(catalog, running=(*catalog.running, *definition.queries), counts=counts)
        self.definitions[definition.number] = definition

    def find_dropped(self, statement: ast.Drop) -> LiveDefinition | None:
        """The definition that DROP takes away, None if there is none and IF EXISTS says so.

        Raises:
            CompileError: it is unknown, of another kind, or others read it.
        """
        if statement.kind is ast.DropKind.QUERY:
            filling = self.find_query(statement.name)
            self.check_unused(filling, statement.name)  # what it has made goes with it
            return filling
        found = self.find_relation(statement.name.text)
        compile_drop = replace(self.catalog, running=())
        if found is None:
            if statement.if_exists:
                return None
            raise CompileError([K012.at(statement.name.span, "", name=statement.name.text)])
        compile(f"DROP {statement.kind.value} {name_text(found.relation or '')}", compile_drop)
        self.check_unused(found, statement.name)
        return found

    def check_unused(self, definition: LiveDefinition, name: ast.Name, hint: str | None = None) -> None:
        """Raises CompileError if other statements in force read what the definition made."""
        if definition.relation is None:
            return
        users = [each for each in self.definitions.values() if definition.relation.lower() in each.reads]
        users = [each for each in users if each is not definition]
        if users:
            names = ", ".join(each.relation or each.name or "a statement" for each in users)
            raise CompileError([K015.at(name.span, "", name=definition.relation, users=names).with_hint(hint)])

    def find_relation(self, name: str) -> LiveDefinition | None:
        """The definition of a relation, without regard to case."""
        lower = name.lower()
        return next((each for each in self.definitions.values() if (each.relation or "").lower() == lower), None)

    def find_unmade(self, statement: ast.Statement) -> LiveDefinition | None:
        """What is there already, so that CREATE … IF NOT EXISTS makes nothing."""
        if not isinstance(statement, MAKING) or not statement.if_not_exists:
            return None
        return self.find_relation(statement.name.text)

    def find_query(self, name: ast.Name) -> LiveDefinition:
        """The definition whose queries have that name.

        Raises:
            CompileError: there is none.
        """
        for each in self.definitions.values():
            if any(query.name.lower() == name.folded for query in each.queries):
                return each
        raise CompileError([V006.at(name.span, "", name=name.text)])

    def remove(self, definition: LiveDefinition) -> None:
        """Takes a definition out of force."""
        self.catalog = self._without(definition)
        del self.definitions[definition.number]

    def _without(self, definition: LiveDefinition) -> Catalog:
        gone = {query.name for query in definition.queries}
        catalog = self.catalog if definition.relation is None else self.catalog.without(definition.relation)
        return replace(catalog, running=tuple(each for each in catalog.running if each.name not in gone))

    def _replaced(self, statement: ast.Statement) -> LiveDefinition | None:
        if not isinstance(statement, MAKING) or not statement.or_replace:
            return None
        found = self.find_relation(statement.name.text)
        if found is not None:
            self.check_unused(found, statement.name, "penstock serve --apply FILE rebuilds its readers, too")
        return found

    def _find_connector(self, made: ast.Statement, catalog: Catalog, queries: tuple[RunningQuery, ...]) -> str:
        """The connector of the place outside of the server that a new relation lies in, empty if there is none."""
        if isinstance(made, ast.Create):
            declared = catalog.find(made.name.text)
            assert isinstance(declared, Declared)
            return declared.origin.connector
        if not isinstance(made, ast.CreateAs) or not queries:
            return ""
        last = queries[-1]
        home = catalog.home(made.name.text, last.root.shape)
        is_home = (last.sink.connector, last.sink.options) == (home.connector, home.options)
        return "" if is_home else last.sink.connector

    def _show(self, made: ast.Create, catalog: Catalog) -> tuple[RunningQuery, ...]:
        """The query that shows the rows of a declared place. Tables of databases are shown by their database."""
        declared = catalog.find(made.name.text)
        assert isinstance(declared, Declared)
        connector = connector_of(declared.origin.connector)
        if not (connector.reads_stream if declared.kind == "STREAM" else connector.reads_table):
            return ()
        name = name_text(declared.name)
        if declared.kind == "STREAM":
            text = f"SELECT STREAM * FROM {name}"
        else:
            text = f"CREATE TABLE {name_text(SHOWN + declared.name)} AS SELECT * FROM {name}"
        [query] = compile(text, replace(catalog, running=()), name=f"the rows of {declared.name}").queries
        sink = catalog.home(declared.name, query.root.shape)
        return (replace(query, name=declared.name, sink=sink, span=declared.span),)


def check_submitted(statement: ast.Statement) -> None:
    """Raises CompileError for a query whose rows have nowhere to go."""
    if not isinstance(statement, ast.QueryStatement):
        return
    if any(each.stream for each in find_nodes(statement, ast.Select)):
        raise CompileError([V001.at(statement.span, "").with_hint("CREATE STREAM name AS SELECT STREAM …")])
    found = V012.at(statement.span, "", statement="SELECT")
    raise CompileError([found.with_hint("read tables over PostgreSQL's protocol, or from GET /v1/tables/{name}")])


def names_in(statement: ast.Statement) -> frozenset[str]:
    """The relations that a statement reads or writes, in lower case, without the one that it makes."""
    return frozenset(each.name.folded for each in find_nodes(statement, ast.Table)) | names_written(statement)


def names_written(statement: ast.Statement) -> frozenset[str]:
    """The relations that a statement writes rows into, in lower case, without the one that it makes."""
    names = {each.into.folded for each in find_nodes(statement, ast.Late) if each.into is not None}
    if isinstance(statement, ast.Insert | ast.Update | ast.Delete):
        names.add(statement.target.folded)
    return frozenset(names)


def find_nodes(node: Any, kind: type[N]) -> Iterator[N]:
    """The nodes of a kind at or below a node, also nodes of queries inside of expressions."""
    if isinstance(node, kind):
        yield node
    elif isinstance(node, exp.Expression):
        for value in node.args.values():
            yield from find_nodes(value, kind)
    elif isinstance(node, list | tuple):
        for each in node:
            yield from find_nodes(each, kind)
    elif isinstance(node, msgspec.Struct):
        for name in node.__struct_fields__:
            yield from find_nodes(getattr(node, name), kind)


def describe_columns(planned: Planned) -> list[dict[str, str]]:
    """The columns of the relation that a statement makes: name, type and role, as DESCRIBE lists them."""
    if planned.definition.relation is None:
        return []
    text = f"DESCRIBE {name_text(planned.definition.relation)}"
    [listing] = compile(text, replace(planned.catalog, running=())).answers
    assert isinstance(listing, Listing), "DESCRIBE lists columns"
    return [dict(zip(("name", "type", "role"), row, strict=True)) for row in listing.rows]
