"""LATE INTO -> the query as two: one for its result, one for the rows that came too late for it.

Both read an intermediate stream of the query that decides which rows are late, so that a row is in one of them.
"""

from __future__ import annotations

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.event_time import W005
from penstock.diagnostics.codes.kinds import K008
from penstock.parser import ast
from penstock.planner import scalars
from penstock.planner.catalog import Declared
from penstock.planner.lower.context import Context
from penstock.planner.passes.check_intermediates import find_unsupported_columns
from penstock.planner.passes.pipeline import plan_query
from penstock.planner.plan import (
    Column,
    Emission,
    Filter,
    GroupAggregate,
    Intermediate,
    KStream,
    Named,
    Node,
    Origin,
    Project,
    RunningQuery,
    Scan,
    Sink,
    Stateful,
    WithLate,
    make_column,
)
from penstock.planner.plan.late import LATENESS
from penstock.planner.plan.walk import walk
from penstock.planner.types import BIGINT, BOOLEAN, VOID, Type

IS_LATE = "is_late"
SHOWN = "lateness"  # what the column of the lateness is called in the stream of late rows


def find_late(query: ast.Query) -> ast.Late | None:
    """The LATE INTO of a statement's own SELECT."""
    match query:
        case ast.Select():
            return query.late if query.late is not None and query.late.into is not None else None
        case ast.With():
            return find_late(query.body)
        case _:
            return None


def split_late(query: RunningQuery, late: ast.Late, context: Context) -> tuple[RunningQuery, RunningQuery]:
    """The query of the result and the query of the late rows; raises CompileError."""
    assert late.into is not None
    nodes = list(walk(query.root))
    if not any(isinstance(node, Stateful) and not isinstance(node, GroupAggregate) for node in nodes):
        raise CompileError([W005.at(late.span, "", clause="LATE INTO", needed="window, OVER or join")])
    if query.emission is not Emission.FINAL:
        found = B002.at(late.span, "", construct="LATE INTO of a table that changes")
        raise CompileError([found.with_hint("SELECT STREAM has final rows, and late ones beside them")])
    if any(isinstance(node, Intermediate) for node in nodes):
        raise CompileError([B002.at(late.span, "", construct="LATE INTO of several operators over one another")])
    origin = find_target(late.into, context)
    scans = tuple(dict.fromkeys(node for node in nodes if isinstance(node, Scan)))
    both = write_beside(query, scans, origin, late.into)
    result = [Named(each.name, make_column(f"r{i}"), each.type) for i, each in enumerate(query.root.schema)]
    lates = [Named(each.name, make_column(f"l{i}"), each.type) for i, each in enumerate(origin.stored)]
    kept = choose_rows(both, exp.Not(this=make_column(IS_LATE)), result)
    sink = Sink(origin.name, origin.connector, origin.options, origin.partitions, origin.key)
    rows = plan_query(f"{query.name}_late", choose_rows(both, make_column(IS_LATE), lates), sink, late.into.span)
    return replace(query, root=kept), rows


def find_target(name: ast.Name, context: Context) -> Origin:
    """The declared stream that late rows go to."""
    entry = context.catalog.require(name)
    if isinstance(entry, Declared) and entry.kind == "STREAM":
        return entry.origin
    found = K008.at(name.span, "", target=name.text, reason="late rows go to a declared stream")
    raise CompileError([found.also(entry.span, "made here")])


def write_beside(query: RunningQuery, scans: tuple[Scan, ...], origin: Origin, name: ast.Name) -> Node:
    """The intermediate stream of the result's rows and the late ones."""
    root = query.root
    columns = [
        Column(IS_LATE, BOOLEAN, nullable=False),
        *(Column(f"r{i}", each.type) for i, each in enumerate(root.schema)),
        *(Column(f"l{i}", each.type) for i, each in enumerate(origin.stored)),
    ]
    for each in origin.stored:
        types = [found for scan in scans if (found := find_type(scan, each.name)) is not None]
        if not types:
            known = ", ".join(dict.fromkeys([*(c.name for scan in scans for c in scan.schema), SHOWN]))
            reason = f"it has a column {each.name}, and the late rows have {known}"
            raise CompileError([K008.at(name.span, "", target=origin.name, reason=reason)])
        for type_ in types:
            if not scalars.is_lossless(type_, each.type):
                reason = f"its column {each.name} is {each.type}, the column of the late rows is {type_}"
                raise CompileError([K008.at(name.span, "", target=origin.name, reason=reason)])
    for finding in find_unsupported_columns(root, query.span):
        raise CompileError([finding])
    late = tuple((scan, tuple(show_column(scan, each) for each in origin.stored)) for scan in scans)
    node = WithLate(schema=tuple(columns), shape=KStream(), span=name.span, input=root, late=late)
    return Intermediate(schema=node.schema, shape=node.shape, span=name.span, input=node, shared=True)


def find_type(scan: Scan, name: str) -> Type | None:
    """The type of what a late row of the scan has under that name, None if it has nothing."""
    own = find_own_column(scan, name)
    return own.type if own is not None else BIGINT if name.lower() == SHOWN else None


def find_own_column(scan: Scan, name: str) -> Column | None:
    return next((each for each in scan.schema if each.name.lower() == name.lower()), None)


def show_column(scan: Scan, target: Column) -> exp.Expression:
    """What a late row of the scan shows in a column."""
    type_ = find_type(scan, target.name)
    if type_ is None:
        return scalars.cast(exp.Null(), VOID, target.type)
    own = find_own_column(scan, target.name)
    return scalars.cast(make_column(LATENESS if own is None else own.name), type_, target.type)


def choose_rows(both: Node, condition: exp.Expression, items: list[Named]) -> Node:
    """The rows for which the condition holds, with these columns."""
    rows = Filter(schema=both.schema, shape=KStream(), span=both.span, input=both, condition=condition)
    schema = tuple(Column(each.name, each.type) for each in items)
    return Project(schema=schema, shape=KStream(), span=both.span, input=rows, items=tuple(items))
