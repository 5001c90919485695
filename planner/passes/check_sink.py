"""The sink can be written, and takes what the query gives it."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.diagnostics import Diagnostic, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.connectors import C005
from penstock.diagnostics.codes.kinds import K008, K009, K016
from penstock.planner.catalog import OPERATION
from penstock.planner.connectors import Connector, connector_of
from penstock.planner.connectors.meeting import make_reader, make_writer
from penstock.planner.plan import (
    Column,
    DeleteRows,
    KStream,
    KTable,
    Node,
    RunningQuery,
    Scan,
    Sink,
    UpdateRows,
    WTable,
)
from penstock.planner.plan.reserved import TABLE_COLUMNS
from penstock.planner.plan.walk import is_changing, rows_leave, walk
from penstock.planner.types import STRING


def check_sink(query: RunningQuery) -> Iterator[Diagnostic]:
    """Finds why the sink cannot be written, or only appended to while the result changes.

    Raises CompileError for columns that the connector cannot hold.
    """
    sink, root, span = query.sink, query.root, query.span
    connector = connector_of(sink.connector)
    if not connector.is_sink:
        yield C005.at(span, "", connector=connector.name, used="written")
        return
    if connector.upserts and not connector.deletes and rows_leave(root):
        reason = f"{connector.name} cannot delete rows, and rows of this table cease to exist"
        yield K008.at(span, "", target=sink.name, reason=reason)
    if sink.table and isinstance(root.shape, KStream) and connector.spark_writes(sink.options):
        reason = "tasks write it at the same time, so an older row of a key could come behind a newer one, and stay"
        found = K008.at(span, "", target=sink.name, reason=reason)
        yield found.with_hint("delivery = 'exactly_once', or GROUP BY the key")
    columns = root.schema
    if not connector.upserts:
        yield from check_operation(sink, connector, root, span)
        operation = dict(sink.options).get(OPERATION)
        columns = root.schema if operation is None else (*root.schema, Column(str(operation), STRING))
    key = sink.key if isinstance(root.shape, KStream) else root.shape.identity
    needs_key = (connector.only_tables and not connector.one_row) or connector.keys_apart
    if needs_key and not (key or isinstance(root.shape, KStream)):
        yield B002.at(span, "", construct=f"a table of one row, which has no key, through {connector.name}")
    if not isinstance(query.change, DeleteRows | UpdateRows):  # their columns are not the table's columns
        is_table = sink.table or not isinstance(root.shape, KStream)
        connector.check(sink.options, columns, span, key=key, table=is_table, written=True)
    scans = [node for node in walk(root) if isinstance(node, Scan)]
    writer = make_writer(sink.connector, sink.options, [node.origin.name for node in scans])
    for node in scans if writer.places else ():
        if make_reader(node.origin.connector, node.origin.options).sees(writer):
            yield K009.at(span, "", target=sink.name).also(node.span, "read here")


_FINAL = "EMIT FINAL behind GROUP BY, or SELECT STREAM: each window comes once, when it is complete"


def check_operation(sink: Sink, connector: Connector, root: Node, span: Span) -> Iterator[Diagnostic]:
    """Finds what is wrong with the option that names the column of a changelog which says what each change does."""
    operation = dict(sink.options).get(OPERATION)
    if operation is None:
        if is_changing(root):
            reason = f"{connector.name} can only be appended to, and this table changes"
            found = K008.at(span, "", target=sink.name, reason=reason)
            hint = _FINAL
            if isinstance(root.shape, KTable) and connector.takes(OPERATION):
                hint = "the option operation = 'op' writes its changes, and in that column what each does"
            yield found.with_hint(hint)
        return
    if is_changing(root) and isinstance(root.shape, WTable):
        reason = "the option operation is for tables without windows"
        yield K008.at(span, "", target=sink.name, reason=reason).with_hint(f"{_FINAL}; leave the option out then")
    elif not (is_changing(root) and isinstance(root.shape, KTable)):
        reason = "it has the option operation, and its rows are neither replaced nor deleted"
        yield K008.at(span, "", target=sink.name, reason=reason).with_hint("leave the option out")
    if str(operation).lower() in TABLE_COLUMNS:
        yield K016.at(span, "", name=operation).with_hint("operation = 'op'")
    if any(each.name.lower() == str(operation).lower() for each in root.schema):
        reason = f"the column {operation} of its files says what a change does, and the table shows one of that name"
        found = K008.at(span, "", target=sink.name, reason=reason)
        yield found.with_hint(f"operation = 'another_name', or {operation} AS another_name")
