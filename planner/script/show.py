"""SHOW and DESCRIBE -> listings of the catalog."""

from __future__ import annotations

from typing import assert_never

from penstock.parser import ast, unparse
from penstock.planner.catalog import Broken, Catalog, Declared, Derived
from penstock.planner.durations import duration_text
from penstock.planner.functions import FUNCTIONS
from penstock.planner.plan import Column, KStream, Listing, RunningQuery, Shape


def lower_show(statement: ast.Show, catalog: Catalog, queries: list[RunningQuery]) -> Listing:
    """What SHOW lists: relations of a kind with their columns, queries with their sinks, functions."""
    kind = statement.kind
    match kind:
        case ast.ShowKind.STREAMS | ast.ShowKind.TABLES | ast.ShowKind.VIEWS:
            entries = [e for e in catalog.entries.values() if e.kind == kind.value[:-1] and not isinstance(e, Broken)]
            rows = tuple((e.name, ", ".join(f"{c.name} {c.type}" for c in list_columns(e))) for e in entries)
            return Listing(kind.value.lower(), ("name", "columns"), rows)
        case ast.ShowKind.QUERIES:
            return Listing("queries", ("name", "writes to"), tuple((q.name, q.sink.connector) for q in queries))
        case ast.ShowKind.FUNCTIONS:
            return Listing("functions", ("name", "what it gives"), tuple((f.name, f.doc) for f in FUNCTIONS))
        case _:
            assert_never(kind)


def list_columns(entry: Declared | Derived) -> tuple[Column, ...]:
    if isinstance(entry, Declared):
        return tuple(Column(each.name, each.type) for each in entry.items) or entry.origin.columns
    return tuple(each for each in entry.node.schema if not each.hidden)


def lower_show_create(statement: ast.ShowCreate, catalog: Catalog) -> Listing:
    """The statement that made a relation, in its canonical form."""
    entry = catalog.require(statement.name)
    return Listing(f"{entry.kind.lower()} {entry.name}", ("statement",), ((f"{unparse(entry.statement)};",),))


def lower_describe(statement: ast.Describe, catalog: Catalog) -> Listing:
    """The columns of a relation and what they are to it."""
    entry = catalog.require(statement.name)
    shape: Shape
    if isinstance(entry, Declared):
        shape, idle = entry.origin.stream, entry.origin.idle
    else:
        shape, idle = entry.node.shape, None
    metadata = dict(entry.origin.metadata) if isinstance(entry, Declared) else {}
    rows = tuple(
        (c.name, str(c.type), describe_role(c.name, shape, idle, metadata.get(c.name))) for c in list_columns(entry)
    )
    return Listing(f"{entry.kind.lower()} {entry.name}", ("column", "type", "role"), rows)


def describe_role(name: str, shape: Shape, idle: int | None, metadata: str | None) -> str:
    words = ["key"] if name in shape.key else []
    words += [] if metadata is None else [f"metadata {metadata}"]
    if isinstance(shape, KStream) and name == shape.time:
        words.append(f"event time, watermark {duration_text(shape.delay or 0)} behind")
        words += [] if idle is None else [f"idle after {duration_text(idle)}"]
    return ", ".join(words)
