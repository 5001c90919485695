"""The sink can be written, and takes what the query gives it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from penstock.diagnostics import Diagnostic, Span
from penstock.diagnostics.codes.building import B004
from penstock.diagnostics.codes.connectors import C005
from penstock.diagnostics.codes.kinds import K008, K009, K016
from penstock.planner.catalog import OPERATION
from penstock.planner.connectors import check_format, check_null, find_connector
from penstock.planner.plan import Column, KTable, Node, RunningQuery, Scan, Sink
from penstock.planner.plan.reserved import TABLE_COLUMNS
from penstock.planner.plan.walk import is_changing, walk
from penstock.planner.types import STRING


def check_sink(query: RunningQuery) -> Iterator[Diagnostic]:
    """Finds why the sink cannot be written, or only appended to while the result changes.

    Raises CompileError for what the format of files cannot hold.
    """
    sink, root, span = query.sink, query.root, query.span
    connector = find_connector(sink.connector)
    assert connector is not None
    if not connector.writes:
        yield C005.at(span, "", connector=connector.name, used="written")
    elif not connector.built:
        yield B004.at(span, "", used="writing through", connector=connector.name)
    elif connector.name == "files":
        yield from check_operation(sink, root, span)
        operation = dict(sink.options).get(OPERATION)
        columns = root.schema if operation is None else (*root.schema, Column(str(operation), STRING))
        check_format(sink.options, columns, span)
        check_null(sink.options, columns, span)
        folder = find_folder(sink)
        for node in walk(root):
            if isinstance(node, Scan) and node.origin.connector == "files" and folder is not None:
                read = normalise_path(dict(node.origin.options)["path"])
                if folder == read or folder.startswith(f"{read}/"):
                    yield K009.at(span, "", target=sink.name).also(node.span, "read here")


def check_operation(sink: Sink, root: Node, span: Span) -> Iterator[Diagnostic]:
    """Finds what is wrong with the option that names the column of the files which says what each change does."""
    operation = dict(sink.options).get(OPERATION)
    if operation is None:
        if is_changing(root):
            found = K008.at(span, "", target=sink.name, reason="files can only be appended to, and this table changes")
            hint = "SELECT STREAM over a window gives rows that are final"
            if isinstance(root.shape, KTable):
                hint = "WITH (…, operation = 'op') writes its changes, and in that column what each does"
            yield found.with_hint(hint)
        return
    if not (is_changing(root) and isinstance(root.shape, KTable)):
        reason = "it has the option operation, and its rows are neither replaced nor deleted"
        yield K008.at(span, "", target=sink.name, reason=reason)
    if str(operation).lower() in TABLE_COLUMNS:
        yield K016.at(span, "", name=operation).with_hint("operation = 'op'")
    if any(each.name.lower() == str(operation).lower() for each in root.schema):
        reason = f"the column {operation} of its files says what a change does, and the table shows one of that name"
        found = K008.at(span, "", target=sink.name, reason=reason)
        yield found.with_hint(f"operation = 'another_name', or {operation} AS another_name")


def find_folder(sink: Sink) -> str | None:
    """The folder of a files sink, None for another one."""
    return normalise_path(dict(sink.options)["path"]) if sink.connector == "files" else None


def normalise_path(path: object) -> str:
    return posixpath.normpath(re.sub(r"^file:(//)?(?=/)", "", str(path)))
