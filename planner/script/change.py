"""UPDATE … FROM and DELETE … USING -> queries over a stream whose rows change a table that others own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.kinds import K008, K010, K021
from penstock.parser import ast
from penstock.planner.catalog import Declared, explain_unknown
from penstock.planner.connectors import connector_of, show_databases
from penstock.planner.lower.context import Context, make_scope, resolve_condition, resolve_scalar
from penstock.planner.lower.from_rows import FromRows
from penstock.planner.lower.joins.conditions import find_key_equality
from penstock.planner.lower.joins.sides import add_filter, join_scopes, qualify_columns
from penstock.planner.lower.query import lower_relation
from penstock.planner.lower.select_items import find_value_column
from penstock.planner.passes.pipeline import plan_query
from penstock.planner.plan import (
    ChangedTable,
    Column,
    DeleteRows,
    KStream,
    KTable,
    Named,
    Node,
    Origin,
    Project,
    RunningQuery,
    Scan,
    Sink,
    UpdateRows,
    conjuncts,
    make_column,
)
from penstock.planner.plan.substitute import substitute_columns
from penstock.planner.plan.texts import kind_text
from penstock.planner.plan.walk import arrives_in_order, walk
from penstock.planner.scalars.implicit import store
from penstock.planner.scalars.scopes import Scope, is_same_name
from penstock.planner.script.double_counts import find_double_counts
from penstock.planner.script.sums import find_sums

Statement: TypeAlias = ast.Update | ast.Delete

ORDER = "_order"
"""The column of a query by which its rows are ordered, where they are not ordered as they arrive."""


class Matched(msgspec.Struct, frozen=True):
    """The rows of the stream, the table, and the values of the table's key in each row of the stream."""

    source: FromRows
    table: FromRows
    key: tuple[Named, ...]

    @property
    def columns(self) -> dict[str, Column]:
        """The columns of the table by their names in expressions."""
        assert isinstance(self.table.node, Project)
        origin = self.table.node.input
        return {each.name: column for each, column in zip(self.table.node.schema, origin.schema, strict=True)}


def lower_update(statement: ast.Update, name: str, context: Context) -> RunningQuery:
    """UPDATE t SET … FROM s WHERE the key of t = …; raises CompileError."""
    entry = require_target(statement, context)
    matched = match_rows(statement, statement.source, entry, context)
    scope = join_scopes(matched.source, matched.table)
    targets = find_targets([each.column for each in statement.assignments], entry)
    for target, each in zip(targets, statement.assignments, strict=True):
        if target.name in entry.origin.key:
            reason = f"{target.name} is in its primary key, which says which row is updated"
            raise refuse(statement, entry, each.column.span, reason)
    pairs = zip(targets, statement.assignments, strict=True)
    assignments = [fit_value(target, each.value, scope, statement, entry) for target, each in pairs]
    default, sums = None, None
    if statement.default is not None:
        default = lower_default(statement.default, matched, statement, entry)
        context.warnings.extend(find_double_counts(statement, assignments, default, matched.columns))
    used = {column.name for each in assignments for column in each.value.find_all(exp.Column)}
    current = tuple((name, column) for name, column in matched.columns.items() if name in used)
    if default is not None:
        given = {each.name for each in default}
        for _, column in current:
            if column.name not in given:
                reason = f"ELSE INSERT gives no {column.name}, which the update reads"
                assert statement.default is not None
                raise refuse(statement, entry, statement.default.span, reason)
    if current:
        values = [*assignments, *(default or ())]
        wanted = {column.name for each in values for column in each.value.find_all(exp.Column)}
        names = choose_names(matched, [name for name, _ in current])
        items = [
            Named(names[each.name], make_column(each.name), each.type)
            for each in matched.source.node.schema
            if each.name in wanted
        ]
        if connector_of(entry.origin.connector).adds:
            sums, more = find_sums(assignments, default, {name: column.name for name, column in current}, names)
            items += more
        assignments = [rename_columns(each, names) for each in assignments]
        default = default and [rename_columns(each, names) for each in default]
    else:  # then each row says by itself what it sets
        items = [*rename_values("set", assignments), *rename_values("else", default or ())]
        assignments = [Named(each.name, make_column(f"set.{each.name}"), each.type) for each in assignments]
        default = default and [Named(each.name, make_column(f"else.{each.name}"), each.type) for each in default]
    row = None if default is None else tuple(default)
    change = UpdateRows(target_of(entry.origin), tuple(assignments), current, row, sums=sums)
    return plan_change(name, matched, items, change, entry, statement.target.span)


def lower_delete(statement: ast.Delete, name: str, context: Context) -> RunningQuery:
    """DELETE FROM t USING s WHERE the key of t = …; raises CompileError."""
    entry = require_target(statement, context)
    matched = match_rows(statement, statement.using, entry, context)
    return plan_change(name, matched, [], DeleteRows(target_of(entry.origin)), entry, statement.target.span)


def require_target(statement: Statement, context: Context) -> Declared:
    """The declared table that the statement changes; raises CompileError where it cannot be changed so."""
    entry = context.catalog.require(statement.target)
    span = statement.target.span
    if not isinstance(entry, Declared) or entry.kind != "TABLE":
        what = "is a stream" if entry.kind == "STREAM" else "is computed by a query of its own"
        found = K021.at(span, "", statement=verb(statement), target=entry.name, reason=f"it {what}")
        raise CompileError(
            [
                found.also(entry.span, "made here").with_hint(
                    "CREATE TABLE with a connector declares what can be changed"
                )
            ]
        )
    connector = connector_of(entry.origin.connector)
    if not (connector.partial_updates if isinstance(statement, ast.Update) else connector.changes_rows):
        reason = f"the connector {connector.name} cannot change single rows"
        found = K021.at(span, "", statement=verb(statement), target=entry.name, reason=reason)
        hint = f"keep the table in a database: connector = {show_databases()}"
        raise CompileError([found.also(entry.span, "declared here").with_hint(hint)])
    return entry


def target_of(origin: Origin) -> ChangedTable:
    """The declared table as what rows change."""
    return ChangedTable(origin.columns, origin.key)


def verb(statement: Statement) -> str:
    """The words that the statement begins with."""
    return "UPDATE" if isinstance(statement, ast.Update) else "DELETE FROM"


def refuse(
    statement: Statement, entry: Declared, span: Span, reason: str, hint: str | None = None, sql: str | None = None
) -> CompileError:
    """The refusal of the statement for a reason."""
    found = K021.at(span, "", statement=verb(statement), target=entry.name, reason=reason)
    return CompileError([found.with_sql(sql, otherwise=hint)])


def match_rows(statement: Statement, relation: ast.Table, entry: Declared, context: Context) -> Matched:
    """The rows of the stream that WHERE leaves, and the key of the table in each; raises CompileError."""
    rows = lower_relation(relation, (), context)
    if not isinstance(rows.node.shape, KStream):
        reason = f"{rows.name} is a {kind_text(rows.node.shape)}, not a stream"
        hint = f"INSERT INTO {entry.name} SELECT * FROM {rows.name} keeps it equal to the table"
        raise refuse(statement, entry, relation.span, reason, hint)
    if rows.over is not None:
        raise CompileError([B002.at(relation.span, "", construct=f"OVER on a relation in {verb(statement)}")])
    if is_same_name(rows.name, entry.name):
        hint = f"{relation.name.text} AS another"
        raise refuse(statement, entry, relation.span, "the stream has the name of the table", hint)
    origin = entry.origin
    scan = Scan(schema=origin.columns, shape=KTable(origin.key), span=statement.target.span, origin=origin)
    source = qualify_columns(rows, relation.span)
    table = qualify_columns(FromRows(scan, make_scope(scan, entry.name), entry.name), statement.target.span)
    matched = Matched(source, table, ())
    scope = join_scopes(source, table)
    key: dict[str, exp.Expression] = {}
    filters: list[exp.Expression] = []
    of_table: list[Span] = []
    for part in conjuncts(statement.where):
        equality = find_key_equality(part, source, table, scope, context)
        name = None if equality is None else find_value_column(equality[1], table.node)
        own = None if name is None else matched.columns[name].name
        if equality is not None and own in origin.key and own not in key:
            key[own] = equality[0]
            continue
        condition = resolve_condition(part, scope, "WHERE")
        if any(each.name in matched.columns for each in condition.find_all(exp.Column)):
            of_table.append(part.meta["span"])
        filters.append(condition)
    missing = [each for each in origin.key if each not in key]
    if missing:
        reason = f"WHERE does not say which row, by its primary key: {', '.join(origin.key)}"
        shown = " AND ".join(f"{entry.name}.{each} = {rows.name}.{each}" for each in missing)
        raise refuse(statement, entry, statement.where.meta["span"], reason, f"WHERE {shown}")
    if of_table:
        construct = f"a condition on {entry.name} beside the equality with its primary key"
        refusal = B002.at(of_table[0], "", construct=construct)
        if isinstance(statement, ast.Update):
            refusal = refusal.with_hint(f"SET n = CASE WHEN {of_table[0].text} THEN 1 ELSE {entry.name}.n END")
        raise CompileError([refusal])
    types = {each.name: each.type for each in origin.columns}
    named = tuple(Named(each, key[each], types[each]) for each in origin.key)
    return Matched(replace(source, node=add_filter(source.node, filters)), table, named)


def find_targets(names: Sequence[ast.Name], entry: Declared) -> list[Column]:
    """The columns of the table that these names stand for, each once; raises CompileError."""
    columns = {each.name.lower(): each for each in entry.origin.columns}
    chosen: list[Column] = []
    for name in names:
        found = columns.get(name.folded)
        if found is None:
            known = [each.name for each in entry.origin.columns]
            raise CompileError([explain_unknown(name, f"{entry.name}.{name.text}", known)])
        if found in chosen:
            raise CompileError([K010.at(name.span, "named twice", name=name.text)])
        chosen.append(found)
    return chosen


def fit_value(target: Column, value: exp.Expression, scope: Scope, statement: Statement, entry: Declared) -> Named:
    """The value of a column of the table, in its type; raises CompileError where a value could change by that."""
    typed = resolve_scalar(value, scope)
    span: Span = value.meta["span"]
    stored = store(typed.expression, typed.type, target.type, span)
    if stored is None:
        reason = f"its column {target.name} is {target.type}, and the value is {typed.type}"
        raise refuse(statement, entry, span, reason, sql=f"CAST({span.text} AS {target.type})")
    return Named(target.name, stored, target.type)


def lower_default(default: ast.ElseInsert, matched: Matched, statement: ast.Update, entry: Declared) -> list[Named]:
    """ELSE INSERT (…) VALUES (…): the row, without its key; raises CompileError."""
    if len(default.columns) != len(default.values):
        reason = f"ELSE INSERT has {len(default.columns)} columns and {len(default.values)} values"
        raise refuse(statement, entry, default.span, reason)
    targets = find_targets(default.columns, entry)
    pairs = zip(targets, default.values, strict=True)
    row = [fit_value(target, value, matched.source.scope, statement, entry) for target, value in pairs]
    keys = {each.name: each.value for each in matched.key}
    for each in row:
        if each.name in keys and each.value != keys[each.name]:
            reason = f"ELSE INSERT gives another {each.name} than WHERE asks for"
            raise refuse(statement, entry, default.span, reason)
    return [each for each in row if each.name not in keys]


def choose_names(matched: Matched, taken: Iterable[str]) -> dict[str, str]:
    """What the query calls the columns of the stream: by their own names, which rejected rows show.

    `alias.column` where another column has the same name, or where the name may be one of Penstock's.
    """
    columns = {each.column: each.name for each in matched.source.scope.columns}
    folded = [name.casefold() for name in (*columns.values(), *taken, *(each.name for each in matched.key))]
    return {
        column: column if name.startswith("_") or folded.count(name.casefold()) > 1 else name
        for column, name in columns.items()
    }


def rename_columns(value: Named, names: Mapping[str, str]) -> Named:
    """The value over columns of other names. Columns that `names` lacks stay."""

    def find_column(column: exp.Column) -> exp.Expression | None:
        return make_column(names[column.name]) if column.name in names else None

    return replace(value, value=substitute_columns(value.value, find_column))


def rename_values(prefix: str, values: Iterable[Named]) -> list[Named]:
    """The values as columns of the query."""
    return [Named(f"{prefix}.{each.name}", each.value, each.type) for each in values]


def plan_change(
    name: str, matched: Matched, items: Iterable[Named], change: UpdateRows | DeleteRows, entry: Declared, span: Span
) -> RunningQuery:
    """The query of the key and the items."""
    node = matched.source.node
    items = (*matched.key, *items)
    schema = tuple(Column(each.name, each.type) for each in items)
    root: Node = Project(schema=schema, shape=KStream(), span=node.span, input=node, items=items)
    if isinstance(change, UpdateRows):
        root, order = order_rows(root, entry, span)
        change = replace(change, order=order)
    origin = entry.origin
    return plan_query(name, root, Sink(origin.name, origin.connector, origin.options, origin.partitions), span, change)


def order_rows(root: Node, entry: Declared, span: Span) -> tuple[Node, str | None]:
    """The rows of a stream, and the column that orders them, None where they are ordered as they arrive.

    Raises CompileError where they have no order: which row of a key is the last one would be left to chance.
    """
    scans = [node for node in walk(root) if isinstance(node, Scan)]
    connectors = [connector_of(each.origin.connector) for each in scans]
    if arrives_in_order(root) and all(each.parses_records and each.record_place.is_unique for each in connectors):
        return root, None
    below = root.input if isinstance(root, Project) else root
    assert isinstance(below.shape, KStream)
    time = below.shape.time
    if time is None:
        reason = "the rows of the query have no order, so that nobody can say which row of a key is the last one"
        found = K008.at(span, "", target=entry.name, reason=reason)
        raise CompileError([found.with_hint("give the stream an event time by WATERMARK FOR, and select it unchanged")])
    own = root.items if isinstance(root, Project) else [Named(e.name, make_column(e.name), e.type) for e in root.schema]
    column = Named(ORDER, make_column(time), below.column(time).type)
    schema = (*root.schema, Column(ORDER, column.type))
    return Project(schema=schema, shape=KStream(), span=root.span, input=below, items=(*own, column)), ORDER
