"""INSERT, CREATE … AS and bare queries -> running queries with their sinks."""

from __future__ import annotations

from typing import Literal

from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span, nearest
from penstock.diagnostics.codes.building import B004
from penstock.diagnostics.codes.connectors import C005
from penstock.diagnostics.codes.kinds import K002, K003, K007, K008, K009, K010, K012, K016, K017
from penstock.diagnostics.codes.windows import W014
from penstock.parser import ast
from penstock.planner import scalars
from penstock.planner.catalog import Broken, Declared, Derived
from penstock.planner.connectors import EXAMPLE, Connector, Options, connector_of
from penstock.planner.functions import clock_calls
from penstock.planner.lower.built import check_built
from penstock.planner.lower.changes import as_changes
from penstock.planner.lower.context import Context, UsesBroken, column
from penstock.planner.lower.create import OPERATION, RETENTION, SEQUENCE
from penstock.planner.lower.items import renamed
from penstock.planner.lower.options import checked_options
from penstock.planner.lower.prune import pruned
from penstock.planner.lower.rows import check_size, check_stage, operator_name, staged
from penstock.planner.plan import (
    Column,
    Emission,
    Intermediate,
    KStream,
    KTable,
    Named,
    Node,
    Origin,
    RunningQuery,
    Scan,
    Shape,
    Sink,
    UnionAll,
    WindowAggregate,
    WTable,
)
from penstock.planner.plan.reserved import TABLE_COLUMNS
from penstock.planner.plan.walk import (
    STATEFUL,
    expressions,
    inputs,
    is_changing,
    rows_leave,
    stateful,
    walk,
    with_inputs,
)
from penstock.planner.types import STRING, VOID

KIND = {KStream: "stream", KTable: "table", WTable: "windowed table"}


def running_query(name: str, root: Node, sink: Sink, span: Span) -> RunningQuery:
    """A query of `root` into `sink`; raises CompileError where this version cannot run it or the sink not take it."""
    check_size(root, span)
    root = pruned(as_changes(united(root)))
    check_built(root)
    check_columns(root, span)
    check_names(root)
    for node in walk(root):
        if isinstance(node, Intermediate):
            check_stage(node, node.span)
    check_clock(root)
    check_writable(sink, root, span)
    emission = Emission.CHANGES if is_changing(root) else Emission.FINAL
    pauses = (node.every for node in walk(root) if isinstance(node, WindowAggregate) and node.every)
    every = None if isinstance(root.shape, KStream) else next(pauses, None)
    key = key_of(root.shape) if emission is Emission.CHANGES else ()
    return RunningQuery(name, root, sink, emission, key, span, every)


def united(node: Node) -> Node:
    """The plan with each stateful branch of a UNION ALL computed by a query of its own, at its own pace."""
    if isinstance(node, Intermediate) or (isinstance(node, UnionAll) and stateful(node) is None):
        return node
    below = tuple(map(united, inputs(node)))
    if isinstance(node, UnionAll):
        below = tuple(staged(each, node.span) for each in below)
    return with_inputs(node, below)


def check_columns(root: Node, span: Span) -> None:
    """Raises CompileError for a column that has no type."""
    for each in root.schema:
        if each.type == VOID:
            found = K017.at(span, "", column=each.name)
            raise CompileError([found.with_hint(f"CAST(NULL AS STRING) AS {each.name}")])


def check_names(root: Node) -> None:
    """Raises CompileError for a column of a table that is called as one that is put beside it."""
    for node in walk(root):
        if not isinstance(node.shape, KStream):
            taken = next((each.name for each in node.schema if each.name.lower() in TABLE_COLUMNS), None)
            if taken is not None:
                raise CompileError([K016.at(node.span, "", name=taken).with_hint(f"{taken} AS another_name")])


def check_clock(root: Node) -> None:
    """Raises CompileError where a stateful operator, or what it reads, looks at the processing time.

    Its result would depend on when its rows are processed, and so on micro-batch borders. A table whose rows leave is
    compared with what it was before.
    """
    for node in walk(root):
        if isinstance(node, STATEFUL) or (node is root and rows_leave(root)):
            for below in walk(node):
                for expression in expressions(below):
                    refuse_clock(expression, node, below.span)


def refuse_clock(expression: exp.Expression, node: Node, span: Span) -> None:
    for call in clock_calls(expression):
        name = operator_name(node) if isinstance(node, STATEFUL) else "a table"
        found = W014.at(call.meta.get("span", span), "", operator=name)
        raise CompileError([found.with_hint("compare event times, or filter the result")])


def key_of(shape: Shape) -> tuple[str, ...]:
    """The columns that identify a row of the result."""
    match shape:
        case KStream():
            return ()
        case KTable() | WTable():
            return shape.identity


def check_writable(sink: Sink, root: Node, span: Span) -> None:
    """Raises CompileError for a sink that cannot be written, or only appended to while the result changes."""
    connector = connector_of(sink.connector)
    if not connector.is_sink:
        raise CompileError([C005.at(span, "", connector=connector.name, used="written")])
    if not connector.built:
        raise CompileError([B004.at(span, "", used="writing through", connector=connector.name)])
    if connector.upserts and not connector.deletes and rows_leave(root):
        reason = f"{connector.name} cannot delete rows, and rows of this table cease to exist"
        raise CompileError([K008.at(span, "", target=sink.name, reason=reason)])
    columns = (*root.schema, *(() if connector.upserts else operation_column(sink, connector, root, span)))
    connector.check(sink.options, columns, span, written=True)
    place = connector.place(sink.options)
    for node in walk(root):
        if isinstance(node, Scan) and node.origin.connector == sink.connector and place is not None:
            read = connector.place(node.origin.options)
            if place == read or place.startswith(f"{read}/"):
                raise CompileError([K009.at(span, "", target=sink.name).also(node.span, "read here")])


def operation_column(sink: Sink, connector: Connector, root: Node, span: Span) -> tuple[Column, ...]:
    """The column of a changelog that says what each change does; none where rows are only added."""
    operation = dict(sink.options).get(OPERATION)
    if operation is None and is_changing(root):
        reason = f"{connector.name} can only be appended to, and this table changes"
        found = K008.at(span, "", target=sink.name, reason=reason)
        hint = "SELECT STREAM over a window gives rows that are final"
        if isinstance(root.shape, KTable) and connector.takes(OPERATION):
            hint = "WITH (…, operation = 'op') writes its changes, and in that column what each does"
        raise CompileError([found.with_hint(hint)])
    if operation is None:
        return ()
    if not (is_changing(root) and isinstance(root.shape, KTable)):
        reason = "it has the option operation, and its rows are neither replaced nor deleted"
        raise CompileError([K008.at(span, "", target=sink.name, reason=reason)])
    if str(operation).lower() in TABLE_COLUMNS:
        raise CompileError([K016.at(span, "", name=operation).with_hint("operation = 'op'")])
    if any(each.name.lower() == str(operation).lower() for each in root.schema):
        reason = f"the column {operation} of its files says what a change does, and the table shows one of that name"
        found = K008.at(span, "", target=sink.name, reason=reason)
        raise CompileError([found.with_hint(f"operation = 'another_name', or {operation} AS another_name")])
    return (Column(str(operation), STRING),)


def lower_insert(statement: ast.Insert, name: str, context: Context) -> RunningQuery:
    """INSERT INTO: the rows cast to the target's columns."""
    entry = context.catalog.find(statement.target.text)
    match entry:
        case None:
            guess = nearest(statement.target.text, context.catalog.names())
            found = K012.at(statement.target.span, "", name=statement.target.text)
            raise CompileError([found.with_hint(guess and f"did you mean {guess}?")])
        case Broken():
            raise UsesBroken(entry.name)
        case Derived():
            reason = "it is computed by a query of its own"
            found = K008.at(statement.target.span, "", target=entry.name, reason=reason).also(entry.span, "made here")
            hint = f"CREATE STREAM another (…) WITH ({EXAMPLE}); INSERT INTO another …"
            raise CompileError([found.with_hint(hint)])
        case Declared():
            pass
    root = context.lower_query(statement.query, context)
    origin, is_table = entry.origin, entry.kind == "TABLE"
    if not isinstance(root.shape, KStream | KTable if is_table else KStream):
        reason = f"it is a {entry.kind.lower()}, and the query gives a {KIND[type(root.shape)]}"
        found = K008.at(statement.query.span, "", target=entry.name, reason=reason)
        raise CompileError([found.with_hint("SELECT STREAM over a window gives rows that are final")])
    if isinstance(root.shape, KStream):
        require_stream_word(statement.query, context.statement)
    chosen = targets(statement, entry)
    fitted = fit(root, chosen, origin, statement)
    options = origin.options
    if is_table:
        check_key(root, chosen, entry, statement)
        if isinstance(root.shape, KTable) and origin.operation is not None:
            options = (*options, (OPERATION, origin.operation))
    sink = Sink(origin.name, origin.connector, options, origin.partitions)
    return running_query(name, fitted, sink, statement.target.span)


def check_key(root: Node, chosen: list[Column], entry: Declared, statement: ast.Insert) -> None:
    """Raises CompileError where a row of the query is not one row of the table by its primary key."""
    key = set(entry.origin.key)
    shown = {target.name for target in chosen}
    if isinstance(root.shape, KTable):
        own = set(root.shape.key)
        shown = {target.name for given, target in zip(root.schema, chosen, strict=True) if given.name in own}
    if shown != key if isinstance(root.shape, KTable) else not key <= shown:
        right = ", ".join(entry.origin.key)
        reason = f"its primary key is {right}, which the query does not give"
        if isinstance(root.shape, KTable):
            wrong = ", ".join(sorted(shown)) or "one row"
            reason = f"its primary key is {right}, and the query's is {wrong}"
        raise CompileError([K008.at(statement.query.span, "", target=entry.name, reason=reason)])


def targets(statement: ast.Insert, entry: Declared) -> list[Column]:
    """The columns that the query's columns go to, by position."""
    columns = {c.name.lower(): c for c in entry.origin.columns}
    if not statement.columns:
        return list(entry.origin.columns)
    chosen = []
    for name in statement.columns:
        found = columns.get(name.folded)
        if found is None:
            guess = nearest(name.text, [c.name for c in entry.origin.columns])
            problem = K012.at(name.span, "", name=f"{entry.name}.{name.text}")
            raise CompileError([problem.with_hint(guess and f"did you mean {guess}?")])
        if found in chosen:
            raise CompileError([K010.at(name.span, "named twice", name=name.text)])
        chosen.append(found)
    return chosen


def fit(root: Node, chosen: list[Column], origin: Origin, statement: ast.Insert) -> Node:
    """The rows under the target's names and types; columns that are not named are NULL.

    Rows of a stream that go into a table are put there.
    """
    span = statement.query.span
    if len(root.schema) != len(chosen):
        reason = f"it takes {len(chosen)} columns and the query gives {len(root.schema)}"
        given = ", ".join(c.name for c in root.schema)
        found = K008.at(span, f"gives {given}", target=statement.target.text, reason=reason)
        raise CompileError([found.with_hint("its columns are " + ", ".join(f"{c.name} {c.type}" for c in chosen))])
    values = {}
    for given_column, target in zip(root.schema, chosen, strict=True):
        if given_column.type != target.type and not scalars.is_lossless(given_column.type, target.type):
            reason = (
                f"its column {target.name} is {target.type}, the query's {given_column.name} is {given_column.type}"
            )
            found = K008.at(span, "", target=statement.target.text, reason=reason)
            raise CompileError([found.with_hint(f"CAST({given_column.name} AS {target.type}) AS {target.name}")])
        values[target.name] = scalars.cast(column(given_column.name), given_column.type, target.type)
    absent = {c.name: scalars.cast(exp.Null(), VOID, c.type) for c in origin.columns if c.name not in values}
    items = [Named(c.name, values.get(c.name) or absent[c.name], c.type) for c in origin.columns]
    if isinstance(root.shape, KTable):
        return renamed(root, items, KTable(origin.key), span)
    if origin.operation is not None:
        items.append(Named(origin.operation, exp.Literal.string("insert"), STRING))
    return renamed(root, items, KStream(), span)


def lower_create_as(statement: ast.CreateAs, context: Context) -> Derived:
    """CREATE STREAM / TABLE … AS: the derived relation, with no sink if it names no place."""
    root = context.lower_query(statement.query, context)
    made: Literal["STREAM", "TABLE"] = statement.kind.value
    name = statement.name.text
    is_stream = isinstance(root.shape, KStream)
    if is_stream != (statement.kind is ast.RelationKind.STREAM):
        given = KIND[type(root.shape)]
        found = K003.at(statement.query.span, f"a {given}", made=made.lower(), given=given)
        right = "STREAM" if is_stream else "TABLE"
        raise CompileError([found.with_hint(f"CREATE {right} {name} AS …")])
    if is_stream:
        require_stream_word(statement.query, context.statement)
    sink = None
    if statement.options:
        report: list[Diagnostic] = []
        connector, options = checked_options(statement.options, statement.name, made, report)
        if report:
            raise CompileError(report)
        for option in (SEQUENCE, RETENTION):
            if option in dict(options):
                problem = f"has the option {option}, which belongs to tables that are read"
                found = K007.at(statement.name.span, "", kind=f"the {made.lower()}", name=name, problem=problem)
                raise CompileError([found])
        partitions = dict(options).get("partitions")
        declared = partitions if isinstance(partitions, int) else None
        sink = Sink(name, connector, without_partitions(options), declared)
    return Derived(made, name, root, frozenset(context.reads), statement.name.span, statement.query, sink)


def without_partitions(options: Options) -> Options:
    return tuple((name, value) for name, value in options if name != "partitions")


def require_stream_word(query: ast.Query, statement: Span) -> None:
    """Raises CompileError for a SELECT of the statement that gives a stream and does not say STREAM."""
    match query:
        case ast.Select():
            if not query.stream:
                behind = query.span.start + len("SELECT")
                source = statement.source.text
                fix = f"{source[statement.start : behind]} STREAM{source[behind : statement.end]}"
                found = K002.at(query.span, "").with_hint("SELECT STREAM …, or GROUP BY a key for a table", fix=fix)
                raise CompileError([found])
        case ast.UnionQuery():
            for branch in query.branches:
                require_stream_word(branch, statement)
        case ast.With():
            require_stream_word(query.body, statement)
