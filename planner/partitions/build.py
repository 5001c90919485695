"""Plans -> the graph of their streams and joins, and for each stream that meets in a join whether their keys agree.

A stream that is known to be partitioned is followed by the expressions in which its key is found. A SELECT list
renames the key, or a join compares it with an equal column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar, assert_never

import msgspec
from sqlglot import exp

from penstock.diagnostics import Span
from penstock.planner.catalog import Catalog, Declared
from penstock.planner.partitions.graph import Graph, Role, Stream
from penstock.planner.plan import (
    AssignWindows,
    Distinct,
    Expression,
    Filter,
    ForeignKeyJoin,
    GroupAggregate,
    GroupingSets,
    Intermediate,
    IntervalJoin,
    JoinType,
    Latest,
    Node,
    Operator,
    Origin,
    Over,
    OverRows,
    Project,
    Ranked,
    Rekey,
    RemoteLookup,
    RunningQuery,
    Scan,
    TableJoin,
    TableLookup,
    TableRanked,
    UnionAll,
    Unnest,
    WindowAggregate,
    WithLate,
    find_columns,
    make_column,
)
from penstock.planner.plan.substitute import substitute_names
from penstock.planner.plan.texts import expression_text, relation_text
from penstock.planner.plan.walk import fold_plan

T = TypeVar("T")
Joined: TypeAlias = IntervalJoin | TableLookup | TableJoin
"""The joins whose sides have to agree. What refers to rows of a table by a foreign key is spread by its own key."""
JOINED = (IntervalJoin, TableLookup, TableJoin)
Key: TypeAlias = tuple[frozenset[Expression], ...]
"""Where each column of a stream's key is found: in any of these expressions over the rows, `plain` ones."""


class JoinInput(msgspec.Struct, frozen=True):
    """A stream that is known to be partitioned, in a join: which of its equalities compare each column of its key.

    `equalities` are their places in the join. `problem` says why the join cannot go by the stream's key, if so.
    `side`: the number of the join's input.
    """

    join: str
    stream: str
    side: int
    equalities: tuple[frozenset[int], ...]
    problem: str | None


class PartitionGraph(msgspec.Struct, frozen=True):
    """The graph of queries, the joins of it as plan nodes, the inputs of these joins that have a key."""

    graph: Graph
    joins: Mapping[str, Joined]
    join_inputs: tuple[JoinInput, ...]
    inserted: frozenset[str]
    """The re-keyed streams that no PARTITION BY of the script makes."""


class Origins(msgspec.Struct, frozen=True):
    """The rows of a plan node: the streams or joins that they come from, and the key of each stream among them.

    The key is None where the stream can be spread anew, so that it does not matter.
    """

    vertices: tuple[str, ...]
    keys: Mapping[str, Key | None]


class Builder(msgspec.Struct):
    """Nodes of the same text are one stream or join, however often their rows are read."""

    catalog: Catalog
    streams: dict[str, Stream] = msgspec.field(default_factory=dict)
    joins: dict[str, Joined] = msgspec.field(default_factory=dict)
    readers: dict[str, dict[str, None]] = msgspec.field(default_factory=dict)
    join_inputs: dict[JoinInput, None] = msgspec.field(default_factory=dict)
    inserted: set[str] = msgspec.field(default_factory=set)
    names: dict[tuple[str, object], str] = msgspec.field(default_factory=dict)
    known: dict[int, tuple[Node, Origins]] = msgspec.field(default_factory=dict)
    filled: dict[str, list[str]] = msgspec.field(default_factory=dict)

    def name(self, kind: str, what: object) -> str:
        """An identifier for what stands at a place, numbered by first sight."""
        return self.names.setdefault((kind, what), f"{kind} {len(self.names):04}")

    def read(self, below: Iterable[str], reader: str) -> None:
        for each in below:
            self.readers.setdefault(each, {})[reader] = None

    def fill(self) -> None:
        """What fills a table is read by all that reads the table."""
        for table, filled in self.filled.items():
            for (kind, what), name in self.names.items():
                if kind == "stream" and isinstance(what, tuple) and what[0] == table:
                    for each in filled:
                        self.readers[each] = self.readers.setdefault(name, {})

    def query(self, query: RunningQuery) -> None:
        rows, sink = self.rows(query.root), query.sink
        output = self.name("output", sink.name.lower())
        count = self.catalog.count_partitions(sink)
        counted = sink.partitions is None and count is not None
        self.streams[output] = Stream(sink.name, Role.OUTPUT, count, is_counted=counted, span=query.span)
        self.read(rows.vertices, output)
        entry = self.catalog.find(sink.name)
        if isinstance(entry, Declared) and entry.kind == "TABLE":
            fill = self.name("fill", query.span)
            self.read(rows.vertices, fill)
            self.filled.setdefault(sink.name.lower(), []).append(fill)

    def rows(self, node: Node) -> Origins:
        """The rows of a node; each is looked at once."""
        return fold_plan(node, self._rows, self.known)

    def _rows(self, node: Node, below: Sequence[Origins]) -> Origins:
        assert isinstance(node, Operator)
        match node:
            case Scan():
                return self._add_outside(node)
            case Project():
                keys = {name: project_key(key, node) for name, key in below[0].keys.items()}
                return Origins(below[0].vertices, keys)
            case WithLate():
                names = {each.name: f"r{place}" for place, each in enumerate(node.input.schema)}
                return Origins(below[0].vertices, {name: rename_key(key, names) for name, key in below[0].keys.items()})
            case Rekey():
                return self._add_rekeyed(node, below[0])
            case WindowAggregate() | GroupAggregate():
                return self._add_group(node, below[0])
            case TableRanked():
                return self._add_ranked(node, below[0])
            case UnionAll():
                return unite_origins(node, below)
            case IntervalJoin() | TableLookup() | TableJoin():
                return self._add_join(node, below)
            case ForeignKeyJoin():
                return self._add_references(node, *below)
            case Filter() | AssignWindows() | GroupingSets() | Unnest() | Distinct() | Over() | OverRows() | Ranked():
                (rows,) = below
                return rows
            case Intermediate() | Latest() | RemoteLookup():
                (rows,) = below
                return rows
            case _:
                assert_never(node)

    def _add_outside(self, node: Scan) -> Origins:
        origin, count = node.origin, self.catalog.count_partitions(node.origin)
        name = self.name("stream", (origin.name.lower(), origin.partitions, origin.key))
        if name not in self.streams:
            span = place_of(origin, self.catalog) or node.span
            key = ", ".join(origin.key)
            counted = origin.partitions is None and count is not None
            self.streams[name] = Stream(origin.name, Role.OUTSIDE, count, key=key, is_counted=counted, span=span)
        known = tuple(frozenset([make_column(each)]) for each in origin.key)
        return Origins((name,), {name: None if count is None else known})

    def _add_rekeyed(self, node: Rekey, below: Origins) -> Origins:
        name = self.name("rekeyed", (node.inserted, node.span))
        self.inserted |= {name} if node.inserted else set()
        key = ", ".join(map(expression_text, node.keys))
        text = f"{relation_text(node.input)} by {key}"
        self.streams[name] = Stream(text, Role.REKEYED, into=node.into, key=key, span=node.span)
        self.read(below.vertices, name)
        return Origins((name,), {name: tuple(frozenset([strip_parentheses(each)]) for each in node.keys)})

    def _add_group(self, node: WindowAggregate | GroupAggregate, below: Origins) -> Origins:
        """A GROUP BY of the key leaves the rows where they are; another one says itself how they are spread."""
        keys = {
            name: tuple(
                frozenset(make_column(each.name) for each in node.keys if strip_parentheses(each.value) in part)
                for part in key or ()
            )
            for name, key in below.keys.items()
        }
        # Rows of one group lie together where all streams go by the same columns of it.
        together = all(keys.values()) and intersect_keys(list(keys.values())) is not None
        return Origins(below.vertices, keys) if together else self._add_spread(node, below)

    def _add_spread(self, node: WindowAggregate | GroupAggregate, below: Origins) -> Origins:
        name = self.name("grouped", node.span)
        key = ", ".join(each.name for each in node.keys)
        text = f"{relation_text(node.input)} grouped" + (f" by {key}" if key else "")
        self.streams[name] = Stream(text, Role.GROUPED, key=key, span=node.span)
        self.read(below.vertices, name)
        return Origins((name,), {name: None})

    def _add_ranked(self, node: TableRanked, below: Origins) -> Origins:
        """Rows of one partition come together; what is sent has lost the partitions of the table."""
        name = self.name("ranked", node.span)
        self.streams[name] = Stream(f"{relation_text(node.input)} ranked", Role.GROUPED, span=node.span)
        self.read(below.vertices, name)
        return Origins((name,), {name: None})

    def _add_references(self, node: ForeignKeyJoin, left: Origins, right: Origins) -> Origins:
        """The rows of the left side stay where they are. Each row of the right side comes to the rows that refer to it.

        Rows of the right side to which nothing refers have no key of the left side.
        """
        name = self.name("referring", node.span)
        self.streams[name] = Stream(f"{relation_text(node.right)} by its foreign keys", Role.GROUPED, span=node.span)
        self.read(right.vertices, name)
        if node.type in (JoinType.RIGHT, JoinType.FULL):
            self.read(left.vertices, name)
            return Origins((name,), {name: None})
        return Origins(left.vertices, left.keys)

    def _add_join(self, node: Joined, below: Sequence[Origins]) -> Origins:
        name = self.name("join", node.span)
        self.joins[name] = node
        keys: dict[str, Key | None] = {}
        for side, rows in enumerate(below):
            self.read(rows.vertices, name)
            for stream, key in rows.keys.items():
                if key is not None:
                    join_input = compare_key(name, stream, side, key, node)
                    self.join_inputs[join_input] = None
                    key = extend_key(key, node) if join_input.problem is None else None
                keys.setdefault(stream, key)
        if isinstance(node, IntervalJoin) and node.type in (JoinType.SEMI, JoinType.ANTI):
            kept = {each.name for each in node.schema}
            keys = {stream: key and tuple(keep_over(part, kept) for part in key) for stream, key in keys.items()}
        return Origins((name,), keys)


def build(queries: Sequence[RunningQuery], catalog: Catalog) -> PartitionGraph:
    """The graph of all queries of a script."""
    builder = Builder(catalog)
    for query in queries:
        builder.query(query)
    builder.fill()
    joins = {name: f"join at {place_text(find_shown_side(node).span)}" for name, node in builder.joins.items()}
    graph = Graph(builder.streams, joins, builder.readers)
    return PartitionGraph(graph, builder.joins, tuple(builder.join_inputs), frozenset(builder.inserted))


def find_shown_side(node: Joined) -> Node:
    """Where a join is shown to be."""
    return node.inputs[-1]


def list_equalities(node: Joined) -> tuple[tuple[Expression, ...], ...]:
    """What the join compares: for each equality an expression over every side."""
    if isinstance(node, TableJoin):
        return tuple(zip(*(side.keys for side in node.sides), strict=True))
    return node.equalities


def strip_parentheses(expression: Expression) -> Expression:
    """The expression as a tree without parentheses, which make no other value of it."""
    if expression.find(exp.Paren) is None:
        return expression
    holder = exp.Tuple(expressions=[expression.copy()])
    for each in list(holder.find_all(exp.Paren)):
        each.replace(each.this)
    result: Expression = holder.expressions[0]
    return result.pop()


def place_of(origin: Origin, catalog: Catalog) -> Span | None:
    """Where the stream is declared, None if its name stands for something else by now."""
    entry = catalog.find(origin.name)
    return entry.span if isinstance(entry, Declared) and entry.origin == origin else None


def place_text(span: Span | None) -> str:
    """`file:line:column`."""
    if span is None:
        return "an unknown place"
    line, at = span.source.position(span.start)
    return f"{span.source.name}:{line}:{at}"


def intersect_keys(keys: Sequence[tuple[frozenset[T], ...]]) -> tuple[frozenset[T], ...] | None:
    """What all have at each place; None if they differ in length, or have nothing in common at a place."""
    if len(set(map(len, keys))) > 1:
        return None
    shared = tuple(frozenset.intersection(*parts) for parts in zip(*keys, strict=True))
    return shared if all(shared) else None


def compare_key(join: str, stream: str, side: int, key: Key, node: Joined) -> JoinInput:
    """How a stream's key meets the equalities of a join."""
    compared = [each[side] for each in list_equalities(node)]
    places = tuple(frozenset(i for i, each in enumerate(compared) if strip_parentheses(each) in part) for part in key)
    problem = None
    if not key:
        problem = "it declares no KEY"
    elif not all(places):
        missing = key[places.index(frozenset())]
        names = {each.name for each in missing if isinstance(each, exp.Column)}
        inside = [each for each in compared if names & find_columns(each)]
        shown = ", ".join(expression_text(each) for each in inside or compared)
        if inside and isinstance(inside[0], exp.Cast):
            problem = f"the join compares it as another type: {shown}"
        else:
            problem = f"the join compares {shown}"
    return JoinInput(join, stream, side, places, problem)


def extend_key(key: Key, node: Joined) -> Key:
    """The key in the joined rows: also in what it has been found equal to."""
    equal = [set(map(strip_parentheses, each)) for each in list_equalities(node)]
    if isinstance(node, TableJoin):
        equal = [each | {make_column(shown.name)} for each, shown in zip(equal, node.schema, strict=False)]
    return tuple(part.union(*(each for each in equal if part & each)) for part in key)


def project_key(key: Key | None, node: Project) -> Key | None:
    """The key in terms of the SELECT list; a part of it that is not shown is in no expression."""
    if key is None:
        return None
    shown: dict[str, list[str]] = {}
    for item in node.items:
        value = strip_parentheses(item.value)
        if isinstance(value, exp.Column):
            shown.setdefault(value.name, []).append(item.name)
    first = {name: names[0] for name, names in shown.items()}
    return tuple(
        frozenset(
            {make_column(item.name) for item in node.items if strip_parentheses(item.value) in part}
            | {substitute_names(each, first) for each in keep_over(part, shown) if not isinstance(each, exp.Column)}
        )
        for part in key
    )


def rename_key(key: Key | None, names: Mapping[str, str]) -> Key | None:
    return key and tuple(frozenset(substitute_names(each, names) for each in keep_over(part, names)) for part in key)


def keep_over(part: Iterable[Expression], names: Iterable[str]) -> frozenset[Expression]:
    """The expressions that use these columns alone."""
    known = set(names)
    return frozenset(each for each in part if find_columns(each) <= known)


def unite_origins(node: UnionAll, below: Sequence[Origins]) -> Origins:
    """All branches; a stream in several of them has its key where all have it."""
    keys: dict[str, Key | None] = {}
    for rows, branch in zip(below, node.inputs, strict=True):
        names = {each.name: out.name for each, out in zip(branch.schema, node.schema, strict=True)}
        for name, key in rows.keys.items():
            renamed = rename_key(key, names)
            before = keys.get(name)
            if renamed is not None and before is not None:
                renamed = tuple(one & other for one, other in zip(renamed, before, strict=True))
            keys[name] = renamed
    return Origins(tuple(dict.fromkeys(origin for rows in below for origin in rows.vertices)), keys)
