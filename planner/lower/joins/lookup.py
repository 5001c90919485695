"""AST joins in which a row refers to at most one row of a table -> plan joins: foreign keys, streams with tables."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.event_time import W002, W005
from penstock.diagnostics.codes.joins import J011, J016, J019, J020
from penstock.parser import ast
from penstock.planner.connectors import connector_of
from penstock.planner.lower.context import Context, resolve_scalar
from penstock.planner.lower.from_rows import FromRows, require_event_time
from penstock.planner.lower.intermediates import materialise_changes, materialise_input
from penstock.planner.lower.joins.conditions import Equality, find_side
from penstock.planner.lower.joins.primary_joins import explain_wrong_key
from penstock.planner.lower.joins.remote import find_remote_table, lower_remote_lookup
from penstock.planner.lower.joins.sides import add_filter, find_right_span, join_columns, join_scopes
from penstock.planner.lower.select_items import find_value_column
from penstock.planner.plan import (
    Cumulate,
    ForeignKeyJoin,
    JoinType,
    KStream,
    KTable,
    Node,
    Origin,
    Scan,
    TableLookup,
    Window,
    WindowAggregate,
    WTable,
    conjunction,
    conjuncts,
)
from penstock.planner.plan.walk import stateful, walk


class Reference(msgspec.Struct, frozen=True):
    """How rows of one side refer to rows of the other: `equalities` cover its whole key, `condition` is the
    rest of ON.
    """

    equalities: tuple[Equality, ...]
    condition: exp.Expression | None


def find_reference(
    table: Node, equalities: Sequence[Equality], conditions: Sequence[exp.Expression]
) -> Reference | None:
    """The equalities as a reference to rows of `table`, which their second parts are about.

    None if they do not cover its key.
    """
    shape = table.shape
    assert not isinstance(shape, KStream)
    wanted = [[name] for name in shape.key]
    if isinstance(shape, WTable):
        wanted.append([shape.end] if isinstance(find_window(table), Cumulate) else [shape.start, shape.end])
    if not wanted:
        return None
    chosen: list[Equality] = []
    rest = list(equalities)
    for names in wanted:
        found = next((each for each in rest if find_value_column(each[1], table) in names), None)
        if found is None:
            return None
        rest.remove(found)
        chosen.append(found)
    others = [exp.EQ(this=one, expression=other) for one, other in rest]
    return Reference(tuple(chosen), conjunction([*conditions, *others]))


def lower_foreign_key(
    join: ast.Join,
    left: FromRows,
    right: FromRows,
    equalities: Sequence[Equality],
    conditions: Sequence[exp.Expression],
    context: Context,
) -> FromRows:
    """A join of two tables where rows of one refer to rows of the other. Raises CompileError."""
    found = find_reference(right.node, equalities, conditions)
    swapped = None
    if found is None or join.kind is ast.JoinKind.RIGHT:
        swapped = find_reference(left.node, [(other, one) for one, other in equalities], conditions)
    if swapped is not None:  # a RIGHT join then keeps the rows that refer
        found = None
    if found is None and swapped is None:
        raise explain_wrong_key(join, right, [other for _, other in equalities])
    if found is None and any(isinstance(each.node.shape, WTable) for each in (left, right)):
        raise CompileError([explain_referring_windows(join, left, right)])
    find_kept_time(join, right, context)
    one, other, referring = (left, right, found) if found is not None else (right, left, swapped)
    assert referring is not None
    type_, span, below = JoinType[join.kind.name], find_right_span(join), one.node
    if found is None:
        type_ = {JoinType.LEFT: JoinType.RIGHT, JoinType.RIGHT: JoinType.LEFT}.get(type_, type_)
    if type_ in (JoinType.RIGHT, JoinType.FULL):
        below, referring = narrow_referring(type_, span, one, other, referring)
    node = make_foreign_key_join(type_, span, below, other.node, referring)
    return FromRows(node, join_scopes(left, right), f"{left.name} and {right.name}")


def narrow_referring(
    type_: JoinType, span: Span, one: FromRows, other: FromRows, reference: Reference
) -> tuple[Node, Reference]:
    """The referring side and its reference in a join that also shows rows to which nothing refers.

    In such a RIGHT join, conditions on the referring side are a filter below it. Raises CompileError for others: they
    would decide whether a row shows that nothing refers to it.
    """
    conditions = conjuncts(reference.condition)
    of_referring = [each for each in conditions if find_side(each, one.node, other.node) == "left"]
    if len(of_referring) < len(conditions) or (conditions and type_ is JoinType.FULL):
        construct = "a condition beside the keys in a join that keeps rows to which nothing refers"
        raise CompileError([B002.at(span, "", construct=construct).with_hint("filter the sides in subqueries instead")])
    keys = [[each.node.column(name).nullable for name in each.node.shape.key] for each in (one, other)]
    if type_ is JoinType.FULL and all(all(each) for each in keys):
        found = J016.at(span, "").because("NULL equals nothing, so two rows with the key NULL would come out.")
        raise CompileError([found.with_hint("WHERE the key IS NOT NULL, in a subquery of one side")])
    return add_filter(one.node, of_referring), Reference(reference.equalities, None)


def make_foreign_key_join(type_: JoinType, span: Span, left: Node, right: Node, reference: Reference) -> ForeignKeyJoin:
    """The join of two tables where the left one refers to the right one."""
    shape = left.shape
    if type_ in (JoinType.RIGHT, JoinType.FULL):
        shape = KTable((*shape.key, *right.shape.key))
    return ForeignKeyJoin(
        schema=join_columns(type_, left.schema, right.schema),
        shape=shape,
        span=span,
        left=materialise_changes(left),
        right=materialise_input(right),
        type=type_,
        equalities=reference.equalities,
        condition=reference.condition,
        kept=find_retention(find_windows(left) or find_windows(right)),
    )


def explain_referring_windows(join: ast.Join, left: FromRows, right: FromRows) -> Diagnostic:
    """The finding for a join of windows on a key to which any number of rows may refer: only one side is kept."""
    found = J011.at(find_right_span(join), "", left="a table", right="the rows that refer to it", kind=join.kind.value)
    found = found.because("Its rows would have no key: any number of rows can refer to one.")
    hint = "swap the sides"
    if isinstance(right.node.shape, WTable):
        hint += f", or name one window of {right.name}: AND {right.name}.window_start = TIMESTAMP '2026-01-01 00:00:00'"
    return found.with_hint(hint)


def lower_lookup(
    join: ast.Join,
    left: FromRows,
    right: FromRows,
    equalities: Sequence[Equality],
    conditions: Sequence[exp.Expression],
    context: Context,
) -> FromRows:
    """A join of a stream with a table; raises CompileError."""
    found = find_reference(right.node, equalities, conditions)
    if found is None:
        raise explain_wrong_key(join, right, [other for _, other in equalities])
    table = find_remote_table(right.node)
    if table is not None and right.as_of_time is None:
        return lower_remote_lookup(join, left, right, table, found.equalities, conjuncts(found.condition))
    kept = find_kept_time(join, right, context)
    if kept is not None:
        require_event_time(left, "a join with a windowed table", join.left.span)
    as_of = None if right.as_of_time is None else find_as_of_time(join, right.as_of_time, left, right)
    type_, span = JoinType[join.kind.name], find_right_span(join)
    node = make_lookup(type_, span, left.node, right.node, found, as_of, kept)
    return FromRows(node, join_scopes(left, right), f"{left.name} and {right.name}")


def make_lookup(
    type_: JoinType,
    span: Span,
    stream: Node,
    table: Node,
    reference: Reference,
    as_of: str | None = None,
    kept: int | None = None,
) -> TableLookup:
    """The join of a stream with the table that it refers to."""
    shape = stream.shape
    assert isinstance(shape, KStream)
    return TableLookup(
        schema=join_columns(type_, stream.schema, table.schema),
        shape=shape,
        span=span,
        stream=materialise_input(stream, as_of or shape.time),
        table=materialise_input(table),
        type=type_,
        equalities=reference.equalities,
        condition=reference.condition,
        as_of=as_of,
        kept=kept,
    )


def keeps_rows(origin: Origin) -> bool:
    """Whether a declaration can say how long former rows are kept."""
    return any(option.name == "retention" for option in connector_of(origin.connector).options)


def find_as_of_time(join: ast.Join, as_of: exp.Expression, left: FromRows, right: FromRows) -> str:
    """The stream's event time in `FOR SYSTEM_TIME AS OF`; raises CompileError where the table cannot answer it."""
    span: Span = as_of.meta["span"]
    time = find_value_column(resolve_scalar(as_of, left.scope).expression, left.node)
    shape = left.node.shape
    assert isinstance(shape, KStream)
    if time is None or not shape.has_time(time):
        found = W002.at(span, "", column=span.text, relation=left.name)
        raise CompileError([found.with_hint(f"the event time is {shape.time}" if shape.time else None)])
    scans = [node for node in walk(right.node) if isinstance(node, Scan)]
    now = "FOR SYSTEM_TIME AS OF PROCTIME() looks a row up as it is"
    reason = hint = None
    if isinstance(right.node.shape, WTable) or stateful(right.node) is not None or len(scans) != 1:
        reason = "only of declared tables are former rows kept"
    elif scans[0].origin.time is None:
        reason = "its rows have no event time"
        hint = f"WATERMARK FOR changed AS changed in its declaration; {now}" if keeps_rows(scans[0].origin) else now
    elif not keeps_rows(scans[0].origin):
        reason, hint = f"the connector {scans[0].origin.connector} keeps no former rows", now
    elif scans[0].origin.retention is None:
        reason, hint = "it does not say how long they are kept", "its options need retention = 7 DAYS"
    if reason is not None:
        raise CompileError([J019.at(join.right.span, "", relation=right.name, reason=reason).with_hint(hint)])
    return time


def explain_outside_join(span: Span) -> Diagnostic:
    """FOR SYSTEM_TIME AS OF where no stream asks for it."""
    found = W005.at(span, "", clause="FOR SYSTEM_TIME AS OF", needed="join of a stream with a table")
    found = found.because("Rows of a stream look up rows of the table behind JOIN. Nothing else is looked up.")
    return found.with_hint("leave FOR SYSTEM_TIME AS OF out")


def find_kept_time(join: ast.Join, right: FromRows, context: Context) -> int | None:
    """For how many milliseconds behind its end a window of the table on the right is kept; None of other tables.

    Warns of a table that does not say how long its former windows can be asked for.
    """
    if not isinstance(right.node.shape, WTable):
        return None
    if all(each.retention is None for each in find_windows(right.node)):
        found = J020.at(join.right.span, "", relation=right.name)
        found = found.because("A window can be looked up only while it can still change.")
        context.warnings.append(found.with_hint("RETENTION 7 DAYS behind the GROUP BY of the table"))
    # The watermark comes from another stream, which does not wait for the grace period.
    return max(each.grace + (each.retention or 0) for each in find_windows(right.node))


def find_windows(table: Node) -> list[WindowAggregate]:
    """The aggregations that compute a windowed table; none for other tables."""
    if not isinstance(table.shape, WTable):
        return []
    return [node for node in walk(table) if isinstance(node, WindowAggregate)]


def find_retention(windows: Sequence[WindowAggregate]) -> int | None:
    """For how long windows can be looked up after they can change no more, in milliseconds; None without windows."""
    return max((each.retention or 0 for each in windows), default=None)


def find_window(node: Node) -> Window | None:
    """The windows of a windowed table."""
    return next((each.window for each in walk(node) if isinstance(each, WindowAggregate)), None)
