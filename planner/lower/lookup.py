"""AST joins in which a row refers to at most one row of a table -> plan joins: foreign keys, streams with tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.joins import J011, J019, J020
from penstock.diagnostics.codes.windows import W002, W005
from penstock.parser import ast
from penstock.planner.lower.changes import staged_changes
from penstock.planner.lower.context import Context, scalar
from penstock.planner.lower.items import value_column
from penstock.planner.lower.rows import Rows, event_time, staged
from penstock.planner.lower.table_join import not_on_a_key, same_scope
from penstock.planner.near_misses import right_part
from penstock.planner.plan import (
    Column,
    Cumulate,
    ForeignKeyJoin,
    JoinType,
    KStream,
    Node,
    Scan,
    TableLookup,
    Window,
    WindowAggregate,
    WTable,
    conjunction,
)
from penstock.planner.plan.walk import stateful, walk

Equality = tuple[exp.Expression, exp.Expression]


@dataclass(frozen=True, slots=True)
class Reference:
    """How rows of one side refer to those of the other: by its whole key; what else ON says of both."""

    equalities: tuple[Equality, ...]
    condition: exp.Expression | None


def reference(table: Node, equalities: Sequence[Equality], conditions: Sequence[exp.Expression]) -> Reference | None:
    """The equalities, of which the second parts are of `table`, as a reference to its rows; None if they are none."""
    shape = table.shape
    assert not isinstance(shape, KStream)
    wanted = [[name] for name in shape.key]
    if isinstance(shape, WTable):
        wanted.append([shape.end] if isinstance(window_of(table), Cumulate) else [shape.start, shape.end])
    if not wanted:
        return None
    chosen: list[Equality] = []
    rest = list(equalities)
    for names in wanted:
        found = next((each for each in rest if value_column(each[1], table) in names), None)
        if found is None:
            return None
        rest.remove(found)
        chosen.append(found)
    others = [exp.EQ(this=one, expression=other) for one, other in rest]
    return Reference(tuple(chosen), conjunction([*conditions, *others]))


def lower_foreign_key(
    join: ast.Join,
    left: Rows,
    right: Rows,
    equalities: Sequence[Equality],
    conditions: Sequence[exp.Expression],
    context: Context,
) -> Rows:
    """A join of two tables of which the rows of one refer to rows of the other; raises CompileError."""
    found = reference(right.node, equalities, conditions)
    swapped = None
    if found is None:
        swapped = reference(left.node, [(other, one) for one, other in equalities], conditions)
    if found is None and swapped is None:
        raise no_reference(join, right, equalities)
    check_kind(join, refers_left=found is not None)
    kept_windows(join, right, context)
    one, other, referring = (left, right, found) if found is not None else (right, left, swapped)
    assert referring is not None
    type_ = JoinType[join.kind.name]
    below = staged_changes(one.node, join.left.span)
    node = ForeignKeyJoin(
        schema=beside(one.node, other.node, type_),
        shape=one.node.shape,
        span=right_part(join),
        left=below,
        right=staged(other.node, join.right.span),
        type=type_,
        equalities=referring.equalities,
        condition=referring.condition,
        kept=retention(windows(one.node) or windows(other.node)),
    )
    return Rows(node, same_scope(left, right), f"{left.name} and {right.name}")


def check_kind(join: ast.Join, refers_left: bool) -> None:
    """Raises CompileError for a join on a foreign key that keeps rows to which any number of rows may refer."""
    if join.kind is ast.JoinKind.INNER or (join.kind is ast.JoinKind.LEFT and refers_left):
        return
    one, other = ("a table's foreign key", "the table that it refers to")
    one, other = (one, other) if refers_left else ("a table", "the rows that refer to it")
    found = J011.at(right_part(join), "", left=one, right=other, kind=join.kind.value)
    found = found.because("Its rows would have no key: any number of rows can refer to one.")
    hint = "INNER or LEFT" if refers_left else "INNER, or LEFT with the sides swapped"
    raise CompileError([found.with_hint(f"allowed here: {hint}")])


def lower_lookup(
    join: ast.Join,
    left: Rows,
    right: Rows,
    equalities: Sequence[Equality],
    conditions: Sequence[exp.Expression],
    context: Context,
) -> Rows:
    """A join of a stream with a table; raises CompileError."""
    found = reference(right.node, equalities, conditions)
    if found is None:
        raise no_reference(join, right, equalities)
    kept = kept_windows(join, right, context)
    if kept is not None:
        event_time(left, "a join with a windowed table", join.left.span)
    shape = left.node.shape
    assert isinstance(shape, KStream)
    as_of = None if right.as_of is None else event_time_of(join, right.as_of, left, right)
    type_ = JoinType[join.kind.name]
    node = TableLookup(
        schema=beside(left.node, right.node, type_),
        shape=shape,
        span=right_part(join),
        stream=staged(left.node, join.left.span, as_of or shape.time),
        table=staged(right.node, join.right.span),
        type=type_,
        equalities=found.equalities,
        condition=found.condition,
        as_of=as_of,
        kept=kept,
    )
    return Rows(node, same_scope(left, right), f"{left.name} and {right.name}")


def beside(left: Node, right: Node, type_: JoinType) -> tuple[Column, ...]:
    """The columns of both; those of the right can be NULL where it is padded."""
    padded = type_ is JoinType.LEFT
    return (*left.schema, *(replace(each, nullable=each.nullable or padded) for each in right.schema))


def event_time_of(join: ast.Join, as_of: exp.Expression, left: Rows, right: Rows) -> str:
    """The stream's event time in `FOR SYSTEM_TIME AS OF`; raises CompileError where the table cannot answer it."""
    span: Span = as_of.meta["span"]
    time = value_column(scalar(as_of, left.scope).expression, left.node)
    shape = left.node.shape
    assert isinstance(shape, KStream)
    if time is None or not shape.has_time(time):
        found = W002.at(span, "", column=span.text, relation=left.name)
        raise CompileError([found.with_hint(f"the event time is {shape.time}" if shape.time else None)])
    scans = [node for node in walk(right.node) if isinstance(node, Scan)]
    reason = None
    if isinstance(right.node.shape, WTable) or stateful(right.node) is not None or len(scans) != 1:
        reason = "only of declared tables are former rows kept"
    elif scans[0].origin.time is None:
        reason = "its rows have no event time: WATERMARK FOR changed AS changed"
    elif scans[0].origin.retention is None:
        reason = "it does not say how long they are kept: WITH (…, retention = 7 DAYS)"
    if reason is not None:
        raise CompileError([J019.at(join.right.span, "", relation=right.name, reason=reason)])
    return time


def outside_of_join(span: Span) -> Diagnostic:
    """FOR SYSTEM_TIME AS OF where no stream asks for it."""
    return W005.at(span, "", clause="FOR SYSTEM_TIME AS OF", needed="join of a stream with a table")


def kept_windows(join: ast.Join, right: Rows, context: Context) -> int | None:
    """For how many milliseconds behind its end a window of the table on the right is kept; None of other tables.

    Warns of a table that does not say how long its former windows can be asked for.
    """
    if not isinstance(right.node.shape, WTable):
        return None
    if all(each.retention is None for each in windows(right.node)):
        found = J020.at(join.right.span, "", relation=right.name)
        found = found.because("A window can be looked up only while it can still change.")
        context.warnings.append(found.with_hint("GROUP BY …, TUMBLE(…) RETENTION 7 DAYS"))
    # By the watermark of another stream, which does not wait for the grace period.
    return max(each.grace + (each.retention or 0) for each in windows(right.node))


def windows(table: Node) -> list[WindowAggregate]:
    """What the windows of a windowed table are computed by; nothing for other tables."""
    if not isinstance(table.shape, WTable):
        return []
    return [node for node in walk(table) if isinstance(node, WindowAggregate)]


def retention(windows: Sequence[WindowAggregate]) -> int | None:
    """For how long windows can be looked up after they can change no more, in milliseconds; None without windows."""
    return max((each.retention or 0 for each in windows), default=None)


def no_reference(join: ast.Join, right: Rows, equalities: Sequence[Equality]) -> CompileError:
    """The error of a join that does not name one row of the table, or the windowed table, on its right."""
    return not_on_a_key(join, right, [other for _, other in equalities])


def window_of(node: Node) -> Window | None:
    """The windows of a windowed table."""
    return next((each.window for each in walk(node) if isinstance(each, WindowAggregate)), None)
