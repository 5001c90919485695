"""CREATE STREAM / TABLE … AS -> a derived relation."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from penstock.diagnostics import CompileError, Diagnostic
from penstock.diagnostics.codes.kinds import K003, K007
from penstock.parser import ast
from penstock.planner.catalog import RETENTION, SEQUENCE, Derived
from penstock.planner.connectors import connector_of
from penstock.planner.lower.context import Context
from penstock.planner.lower.query import lower_query
from penstock.planner.plan import ChangedTable, KStream, Node, Options, PutRows, Sink
from penstock.planner.plan.texts import kind_text
from penstock.planner.script.read_options import read_options
from penstock.planner.script.stream_word import lower_stream


def lower_create_as(statement: ast.CreateAs, context: Context) -> Derived:
    """CREATE STREAM / TABLE … AS: the derived relation, with no sink if it names no place."""
    made: Literal["STREAM", "TABLE"] = statement.kind.value
    name = statement.name.text
    wants_stream = statement.kind is ast.RelationKind.STREAM
    root = show_key(lower_stream(statement.query, context) if wants_stream else lower_query(statement.query, context))
    is_stream = isinstance(root.shape, KStream)
    if is_stream != wants_stream:
        given = kind_text(root.shape)
        found = K003.at(statement.query.span, f"a {given}", made=made.lower(), given=given)
        right = "STREAM" if is_stream else "TABLE"
        raise CompileError([found.with_hint(f"CREATE {right} {name} AS, with the same query")])
    sink = None
    if statement.options:
        findings: list[Diagnostic] = []
        connector, options = read_options(statement.options, statement.name, made, None, statement.span, findings)
        if findings:
            raise CompileError(findings)
        for option in (SEQUENCE, RETENTION):
            if option in dict(options):
                problem = f"has the option {option}, which belongs to tables that are read"
                found = K007.at(statement.name.span, "", kind=f"the {made.lower()}", name=name, problem=problem)
                raise CompileError([found])
        partitions = dict(options).get("partitions")
        declared = partitions if isinstance(partitions, int) else None
        key = root.shape.key if isinstance(root.shape, KStream) else root.shape.identity
        time = root.shape.time if isinstance(root.shape, KStream) else None
        sink = Sink(name, connector, drop_partitions(options), declared, key, time, not is_stream)
    return Derived(made, name, root, frozenset(context.reads), statement.name.span, statement, sink)


def show_key(root: Node) -> Node:
    """The result of a statement, with the columns of its key that its SELECT list does not show behind the others."""
    if not any(each.hidden for each in root.schema):
        return root
    return replace(root, schema=tuple(replace(each, hidden=False) for each in root.schema))


def put_result(node: Node, sink: Sink) -> PutRows | None:
    """How the rows change the table that they go to, None if the sink has no rows of its own."""
    if isinstance(node.shape, KStream) or not connector_of(sink.connector).changes_rows:
        return None
    return PutRows(ChangedTable(node.schema, node.shape.identity))


def drop_partitions(options: Options) -> Options:
    return tuple((name, value) for name, value in options if name != "partitions")
