"""INSERT INTO -> a query whose rows are cast to the columns of their target."""

from __future__ import annotations

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.kinds import K006, K008, K010, K024
from penstock.parser import ast
from penstock.planner import scalars
from penstock.planner.catalog import OPERATION, Declared, Derived, explain_unknown
from penstock.planner.connectors import connector_of
from penstock.planner.lower.context import Context
from penstock.planner.lower.query import lower_query
from penstock.planner.lower.select_items import choose_output_name, rename_columns
from penstock.planner.passes.pipeline import plan_query
from penstock.planner.plan import (
    Column,
    Filter,
    GroupAggregate,
    KStream,
    KTable,
    Named,
    Node,
    Origin,
    Project,
    PutRows,
    RunningQuery,
    Sink,
    WindowAggregate,
    WTable,
    make_column,
)
from penstock.planner.plan.reserved import choose_unused_name
from penstock.planner.plan.texts import expression_text, kind_text
from penstock.planner.scalars.implicit import store
from penstock.planner.script.change import order_rows, target_of
from penstock.planner.script.stream_word import lower_stream, require_stream_word
from penstock.planner.types import STRING, VOID


def lower_insert(statement: ast.Insert, name: str, context: Context) -> RunningQuery:
    """INSERT INTO: the rows cast to the target's columns."""
    entry = context.catalog.require(statement.target)
    if isinstance(entry, Derived):
        reason = "it is computed by a query of its own"
        found = K008.at(statement.target.span, "", target=entry.name, reason=reason).also(entry.span, "made here")
        hint = "declare another one with a place of its own, and INSERT INTO that"
        raise CompileError([found.with_hint(hint)])
    origin, is_table = entry.origin, entry.kind == "TABLE"
    refuse_values(statement, entry)
    refuse_metadata(statement, entry)
    statement = replace(statement, query=name_apart(statement.query))
    root = lower_query(statement.query, context) if is_table else lower_stream(statement.query, context)
    missing = next((each for each in root.schema if each.hidden), None)
    if missing is not None:
        written = find_written_key(root, missing.name)
        found = K006.at(statement.query.span, "", column=written)
        raise CompileError([found.with_hint(f"add {written} to the SELECT list: rows are replaced by it")])
    changes_rows = is_table and connector_of(origin.connector).changes_rows
    taken = (KStream, KTable, WTable) if changes_rows else (KStream, KTable) if is_table else (KStream,)
    if not isinstance(root.shape, taken):
        reason = f"it is a {entry.kind.lower()}, and the query gives a {kind_text(root.shape)}"
        found = K008.at(statement.query.span, "", target=entry.name, reason=reason)
        raise CompileError([found.with_hint("SELECT STREAM over a window gives rows that are final")])
    if is_table and isinstance(root.shape, KStream):
        require_stream_word(statement.query, context.statement)
    chosen = choose_targets(statement, entry)
    fitted = fit_columns(root, chosen, origin, statement)
    options = origin.options
    if is_table:
        check_key(root, chosen, entry, statement)
        if isinstance(root.shape, KTable) and origin.operation is not None:
            options = (*options, (OPERATION, origin.operation))
    change = None
    if changes_rows:
        order = None
        if isinstance(root.shape, KStream):
            fitted, order = order_rows(fitted, entry, statement.target.span)
        change = PutRows(target_of(origin), order)
    time = find_time(root, chosen, origin)
    sink = Sink(origin.name, origin.connector, options, origin.partitions, origin.key, time, is_table)
    return plan_query(name, fitted, sink, statement.target.span, change)


def name_apart(query: ast.Query) -> ast.Query:
    """The query with new names for columns that repeat an earlier name. The target has names of its own."""
    match query:
        case ast.UnionQuery():
            return replace(query, branches=tuple(map(name_apart, query.branches)))
        case ast.With():
            return replace(query, body=name_apart(query.body))
        case ast.Select():
            names: list[str] = []
            items: list[ast.Item] = []
            for place, item in enumerate(query.items):
                name = choose_output_name(item, place)
                free = choose_unused_name(name, names)
                is_other = free != name and not item.columns and not ast.is_star(item.value)
                items.append(replace(item, alias=ast.Name(free, item.span)) if is_other else item)
                names.append(free)
            return replace(query, items=tuple(items))
        case _:
            return query


def find_time(root: Node, chosen: list[Column], origin: Origin) -> str | None:
    """The column of the target that holds the event time of the rows, None if none does."""
    if origin.time in {each.name for each in origin.stored}:
        return origin.time
    time = root.shape.time if isinstance(root.shape, KStream) else None
    return next((target.name for given, target in zip(root.schema, chosen, strict=True) if given.name == time), None)


def find_written_key(node: Node, name: str) -> str:
    """What a script calls a column that the plan has named: the expression of GROUP BY, or the column of a relation."""
    while isinstance(node, Filter | Project):
        if isinstance(node, Project):
            value = next(item.value for item in node.items if item.name == name)
            if not isinstance(value, exp.Column):
                return expression_text(value)
            name = value.name
        node = node.input
    keys = node.keys if isinstance(node, GroupAggregate | WindowAggregate) else ()
    return next((expression_text(key.value) for key in keys if key.name == name), name)


def refuse_values(statement: ast.Insert, entry: Declared) -> None:
    """Raises CompileError for INSERT of VALUES, or of a SELECT without FROM, which says where the rows can go."""
    first = statement.query.branches[0] if isinstance(statement.query, ast.UnionQuery) else statement.query
    if not isinstance(first, ast.Select) or not isinstance(first.relation, ast.NoTable):
        return
    connector = connector_of(entry.origin.connector)
    if connector.changes_rows:
        hint = f"run this INSERT in {connector.name} itself"
    elif any(name == "path" for name, _ in entry.origin.options):
        hint = f"write the rows into a file in the folder of {entry.name}, and queries read them"
    else:
        hint = "SELECT the rows FROM a stream"
    found = K024.at(statement.query.span, "").because("INSERT INTO keeps running. It writes rows as they arrive.")
    raise CompileError([found.with_hint(hint)])


def refuse_metadata(statement: ast.Insert, entry: Declared) -> None:
    """Raises CompileError for a METADATA column that is not VIRTUAL: no connector takes metadata."""
    for each in entry.statement.columns:
        if isinstance(each, ast.MetadataColumn) and not each.virtual:
            reason = f"its column {each.name.text} is metadata, which can only be read"
            found = K008.at(statement.target.span, "", target=entry.name, reason=reason).also(each.span, "made here")
            raise CompileError([found.with_hint(f"{each.span.text} VIRTUAL")])


def check_key(root: Node, chosen: list[Column], entry: Declared, statement: ast.Insert) -> None:
    """Raises CompileError where a row of the query is not one row of the table by its primary key."""
    key = set(entry.origin.key)
    shown = {target.name for target in chosen}
    if not isinstance(root.shape, KStream):
        own = set(root.shape.identity)
        shown = {target.name for given, target in zip(root.schema, chosen, strict=True) if given.name in own}
    if not key <= shown if isinstance(root.shape, KStream) else shown != key:
        right = ", ".join(entry.origin.key)
        reason = f"its primary key is {right}, which the query does not give"
        if not isinstance(root.shape, KStream):
            wrong = ", ".join(sorted(shown)) or "one row"
            reason = f"its primary key is {right}, and the query's is {wrong}"
        raise CompileError([K008.at(statement.query.span, "", target=entry.name, reason=reason)])


def choose_targets(statement: ast.Insert, entry: Declared) -> list[Column]:
    """The columns that the query's columns go to, by position."""
    columns = {c.name.lower(): c for c in entry.origin.stored}
    if not statement.columns:
        return list(entry.origin.stored)
    chosen = []
    for name in statement.columns:
        found = columns.get(name.folded)
        if found is None:
            known = [c.name for c in entry.origin.stored]
            raise CompileError([explain_unknown(name, f"{entry.name}.{name.text}", known)])
        if found in chosen:
            raise CompileError([K010.at(name.span, "named twice", name=name.text)])
        chosen.append(found)
    return chosen


def check_not_null(root: Node, chosen: list[Column], origin: Origin, statement: ast.Insert) -> None:
    """Raises CompileError where rows of files could have NULL in a column that is declared NOT NULL.

    A database checks its rows by itself.
    """
    if connector_of(origin.connector).changes_rows:
        return
    given = {target.name: column for column, target in zip(root.schema, chosen, strict=True)}
    defaults = {each.name for each in origin.defaults}
    for target in origin.stored:
        column = given.get(target.name)
        may_be_null = target.name not in defaults if column is None else column.nullable
        if not target.nullable and may_be_null and target.name not in origin.key:
            reason = f"its column {target.name} is NOT NULL, and the query may give NULL there"
            found = K008.at(statement.query.span, "", target=origin.name, reason=reason)
            hint = f"give {target.name} a value" if column is None else f"WHERE {column.name} IS NOT NULL"
            raise CompileError([found.with_hint(hint)])


def fit_columns(root: Node, chosen: list[Column], origin: Origin, statement: ast.Insert) -> Node:
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
        value = store(make_column(given_column.name), given_column.type, target.type, span)
        if value is None:
            reason = (
                f"its column {target.name} is {target.type}, the query's {given_column.name} is {given_column.type}"
            )
            found = K008.at(span, "", target=statement.target.text, reason=reason)
            raise CompileError([found.with_hint(f"CAST({given_column.name} AS {target.type}) AS {target.name}")])
        values[target.name] = value
    check_not_null(root, chosen, origin, statement)
    absent = {c.name: scalars.cast(exp.Null(), VOID, c.type) for c in origin.stored if c.name not in values}
    absent |= {each.name: each.value for each in origin.defaults if each.name in absent}
    items = [Named(c.name, values.get(c.name) or absent[c.name], c.type) for c in origin.stored]
    if isinstance(root.shape, KTable):
        return rename_columns(root, items, KTable(origin.key), span)
    if isinstance(root.shape, WTable):
        names = {given.name: target.name for given, target in zip(root.schema, chosen, strict=True)}
        key = tuple(names[each] for each in root.shape.key)
        return rename_columns(root, items, WTable(key, names[root.shape.start], names[root.shape.end]), span)
    if origin.operation is not None:
        items.append(Named(origin.operation, exp.Literal.string("insert"), STRING))
    return rename_columns(root, items, KStream(), span)
