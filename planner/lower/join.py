"""AST joins -> plan joins. Legality lives in joins.py, the time bound in bounds.py."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.joins import J008, J010, J011, J012, J013, J014, J015
from penstock.diagnostics.codes.kinds import K018
from penstock.diagnostics.codes.windows import W005
from penstock.parser import ast
from penstock.planner import bounds, joins, scalars
from penstock.planner.intervals import fixed_milliseconds
from penstock.planner.lower.built import kind_text
from penstock.planner.lower.context import Context, column, condition, scalar
from penstock.planner.lower.lookup import lower_foreign_key, lower_lookup, outside_of_join
from penstock.planner.lower.meeting import Meeting
from penstock.planner.lower.rows import Rows, event_time, staged
from penstock.planner.lower.same_windows import same_windows
from penstock.planner.lower.table_join import lower_primary_join, not_on_a_key, same_scope
from penstock.planner.names import Scope, ScopeColumn
from penstock.planner.near_misses import Attempt, near_miss, right_part
from penstock.planner.plan import (
    BoundEnd,
    Column,
    Filter,
    IntervalJoin,
    JoinType,
    KStream,
    KTable,
    Named,
    Node,
    Project,
    TimeBound,
    WTable,
    conjunction,
    conjuncts,
)

Equality = tuple[exp.Expression, exp.Expression]
OPERATOR = "a stream-stream join"
SHORTEST_PANE = 1_000  # milliseconds; shorter ones cost more than they save

# The sides whose rows may be filtered before the join by a condition of ON on that side alone.
PUSHED = {
    ast.JoinKind.INNER: ("left", "right"),
    ast.JoinKind.LEFT: ("right",),
    ast.JoinKind.RIGHT: ("left",),
    ast.JoinKind.FULL: (),
    ast.JoinKind.SEMI: ("left", "right"),
    ast.JoinKind.ANTI: ("right",),
}


def lower_join(join: ast.Join, left: Rows, right: Rows, where: Sequence[exp.Expression], context: Context) -> Rows:
    """The joined rows; their columns are called `alias.column`. An INNER join takes its WHERE into the condition."""
    check_matrix(join, left, right)
    if not (isinstance(left.node.shape, KStream) and isinstance(right.node.shape, KStream)):
        return lower_with_table(join, left, right, where, context)
    event_time(left, OPERATOR, join.left.span)
    event_time(right, OPERATOR, join.right.span)
    left, right = both_qualified(join, left, right)
    is_inner = join.kind is ast.JoinKind.INNER
    parts = [*conjuncts(join.on), *(where if is_inner else ())]
    times = compared_times(parts, left, right)
    derived = derived_bound(parts, left, right)
    if derived is None or bounds.split(parts, times)[0].bound() is not None:
        try:
            bound, rest = time_bound(join, parts, [] if is_inner else where, times, context)
        except CompileError as error:
            raise CompileError(all_problems(error, join, parts, left, right, times.scope, context)) from None
    else:
        (times, bound), rest = derived, parts
    equalities, conditions = keys_and_conditions(join, rest, left, right, times.scope, context)
    pushed = PUSHED[join.kind]
    residual: list[exp.Expression] = []
    filters: dict[str, list[exp.Expression]] = {"left": [], "right": []}
    for resolved in conditions:
        side = only_side(resolved, left.node, right.node)
        (filters[side] if side in pushed else residual).append(resolved)
    one_sided = join.kind in (ast.JoinKind.SEMI, ast.JoinKind.ANTI)
    type_ = JoinType[join.kind.name]
    crossing = any(not only_side(each, left.node, right.node) for each in residual)
    pane = None if crossing and not is_inner else pane_length(type_, bound)
    met = Meeting(type_, bound, pane, stream(left), stream(right), times.left, times.right)
    key = tuple(each.name for each, _ in equalities if isinstance(each, exp.Column))
    node = IntervalJoin(
        schema=joined_schema(join.kind, left.node, right.node),
        shape=KStream(key, met.times(), met.near_times()),
        span=join.span,
        left=staged(filtered(left.node, filters["left"]), join.left.span, times.left),
        right=staged(filtered(right.node, filters["right"]), join.right.span, times.right),
        type=type_,
        equalities=tuple(equalities),
        left_time=times.left,
        right_time=times.right,
        bound=bound,
        residual=conjunction(residual),
        pane=pane,
    )
    scope = left.scope if one_sided else times.scope
    return Rows(node, scope, f"{left.name} and {right.name}")


def both_qualified(join: ast.Join, left: Rows, right: Rows) -> tuple[Rows, Rows]:
    """Both sides with their columns called `alias.column`; raises CompileError where they have one alias."""
    left, right = qualified(left, join.left.span), qualified(right, join.right.span)
    if left.scope.has_relation(right.name):
        found = J014.at(join.right.span, "", name=right.name).also(join.left.span, "")
        raise CompileError([found.with_hint(f"{right.name} AS another")])
    return left, right


def lower_with_table(
    join: ast.Join, left: Rows, right: Rows, where: Sequence[exp.Expression], context: Context
) -> Rows:
    """A join in which one side or both are tables."""
    if join.within is not None:
        raise CompileError([W005.at(join.within.span, "", clause="WITHIN", needed="join of two streams")])
    stream_and_table = isinstance(left.node.shape, KStream) and isinstance(right.node.shape, KTable)
    if left.as_of is not None or (right.as_of is not None and not stream_and_table):
        raise CompileError([outside_of_join((join.left if left.as_of is not None else join.right).span)])
    left, right = both_qualified(join, left, right)
    scope = same_scope(left, right)
    parts, filters = conjuncts(join.on), list(where if join.kind is ast.JoinKind.INNER else ())
    shift, through = 0, frozenset[str]()
    both_windowed = isinstance(left.node.shape, WTable) and isinstance(right.node.shape, WTable)
    if both_windowed:
        shift, through, rest = same_windows(join, [*parts, *filters], left, right)
        parts, filters = ([each for each in some if any(each is one for one in rest)] for some in (parts, filters))
    equalities, conditions = keys_and_conditions(join, parts, left, right, scope, context, filters)
    if isinstance(left.node.shape, KStream):
        return lower_lookup(join, left, right, equalities, conditions, context)
    if type(left.node.shape) is type(right.node.shape):
        joined = lower_primary_join(join, left, right, equalities, conditions, shift, through)
        if joined is not None:
            return joined
        if both_windowed:
            raise not_on_a_key(join, right, [other for _, other in equalities])
    return lower_foreign_key(join, left, right, equalities, conditions, context)


def compared_times(parts: Sequence[exp.Expression], left: Rows, right: Rows) -> bounds.Times:
    """The event times that the conditions bound the difference of; the default ones if they bound none."""
    scope = Scope((*left.scope.columns, *right.scope.columns))
    pairs = [
        bounds.Times(scope, one.column, other.column) for one in stream(left).times for other in stream(right).times
    ]
    return next((times for times in pairs if bounds.split(parts, times)[0].bound()), pairs[0])


def derived_bound(parts: Sequence[exp.Expression], left: Rows, right: Rows) -> tuple[bounds.Times, TimeBound] | None:
    """The bound that follows where a right time is bounded by a left column that is near to the left event time.

    That column is the time of a row which may be missing, as in `a LEFT JOIN b LEFT JOIN c ON … b.time …`.
    """
    scope = Scope((*left.scope.columns, *right.scope.columns))
    for near in stream(left).near_times:
        for other in stream(right).times:
            found = bounds.split(parts, bounds.Times(scope, near.column, other.column))[0].bound()
            if found is not None:
                lower = BoundEnd(found.lower.milliseconds + near.offset_min, found.lower.closed)
                upper = BoundEnd(found.upper.milliseconds + near.offset_max, found.upper.closed)
                times = bounds.Times(scope, stream(left).times[0].column, other.column)
                return times, TimeBound(lower, upper)
    return None


def stream(rows: Rows) -> KStream:
    assert isinstance(rows.node.shape, KStream)
    return rows.node.shape


def pane_length(type_: JoinType, bound: TimeBound) -> int | None:
    """How long the panes of a join are: its reach, so that every row is kept about twice. None if panes do not pay.

    They do not where partners are far apart: a pane would hold all that lies between them.
    """
    back, forward = bound.reach(type_)
    return max(back + forward, SHORTEST_PANE) if back + forward <= 2 * max(bound.width, SHORTEST_PANE) else None


def check_matrix(join: ast.Join, left: Rows, right: Rows) -> None:
    """Raises CompileError where the matrix of joins.py has no such join, or ON is missing."""
    left_kind, right_kind = kind_text(left.node.shape), kind_text(right.node.shape)
    cell = joins.cell(left.node.shape, right.node.shape)
    place = right_part(join)
    if isinstance(cell, joins.Illegal):
        found = J011.at(place, "", left=f"a {left_kind}", right=f"a {right_kind}", kind=join.kind.value)
        raise CompileError([found.also(join.left.span, left_kind).because(cell.reason).with_hint(cell.hint)])
    if join.kind not in cell.kinds:
        found = J011.at(place, "", left=f"a {left_kind}", right=f"a {right_kind}", kind=join.kind.value)
        allowed = ", ".join(kind.value for kind in cell.kinds)
        raise CompileError([found.also(join.left.span, left_kind).with_hint(f"allowed here: {allowed}")])
    if join.on is None:
        hint = f"ON {left.name}.key = {right.name}.key" + (" AND the bound on the two event times" * cell.bounded)
        raise CompileError([J015.at(place, "", kind=join.kind.value).with_hint(hint)])


def qualified(rows: Rows, span: Span) -> Rows:
    """The same rows with their columns called `alias.column`, as one side of a join; joined rows have that already."""
    node, shape = rows.node, rows.node.shape
    if all(each.column == joined_name(each.relation or "", each.name) for each in rows.scope.columns):
        return rows
    names = {c.name: joined_name(rows.name, c.name) for c in node.schema}
    items = tuple(Named(names[c.name], column(c.name), c.type) for c in node.schema)
    schema = tuple(Column(names[c.name], c.type, c.nullable) for c in node.schema)
    match shape:
        case KStream():
            shape = shape.rename(names)
        case KTable():
            shape = KTable(tuple(names[each] for each in shape.key))
        case WTable():
            key = tuple(names[each] for each in shape.key)
            shape = WTable(key, names[shape.start], names[shape.end])
    renamed = Project(schema=schema, shape=shape, span=span, input=node, items=items)
    scope = Scope(tuple(ScopeColumn(c.relation, c.name, names[c.column], c.type) for c in rows.scope.columns))
    return Rows(renamed, scope, rows.name, as_of=rows.as_of)


def joined_name(alias: str, name: str) -> str:
    """`alias.column`. Dots in the alias itself are percent-encoded, so that no two columns have one name."""
    return f"{alias.replace('%', '%25').replace('.', '%2E')}.{name}"


def all_problems(
    bound: CompileError,
    join: ast.Join,
    parts: Iterable[exp.Expression],
    left: Rows,
    right: Rows,
    scope: Scope,
    context: Context,
) -> list[Diagnostic]:
    """What is wrong with the bound and with the other conditions; only the unknown names where there are any.

    An unknown name may be the bound that is missing.
    """
    try:
        keys_and_conditions(join, parts, left, right, scope, context)
    except CompileError as others:
        names = [each for each in others.diagnostics if each.code.startswith("N")]
        return names or [*bound.diagnostics, *(each for each in others.diagnostics if each not in bound.diagnostics)]
    return list(bound.diagnostics)


def time_bound(
    join: ast.Join,
    parts: Sequence[exp.Expression],
    where: Sequence[exp.Expression],
    times: bounds.Times,
    context: Context,
) -> tuple[TimeBound, list[exp.Expression]]:
    """The bound of the join and the conjuncts that are no part of it."""
    ends, used, rest = bounds.split(parts, times)
    for part in used:
        condition(part, times.scope, "ON")
    if join.within is not None:
        before = fixed_milliseconds(join.within.before, "time bound")
        after = fixed_milliseconds(join.within.after, "time bound")
        ends = ends.meet(bounds.within(before, after))
    bound = ends.bound()
    if bound is None:
        raise CompileError([near_miss(Attempt(join, times, ends, used, rest, where, context.statement))])
    if bounds.is_empty(bound):
        places = [part.meta["span"] for part in used] or [join.span]
        found = J010.at(places[0], "")
        for place in places[1:]:
            found = found.also(place)
        raise CompileError([found.because("No two times satisfy all of this at once.")])
    return bound, rest


def keys_and_conditions(
    join: ast.Join,
    parts: Iterable[exp.Expression],
    left: Rows,
    right: Rows,
    scope: Scope,
    context: Context,
    filters: Iterable[exp.Expression] = (),
) -> tuple[list[Equality], list[exp.Expression]]:
    """The equalities between the sides, and all other conditions, resolved. `filters` of WHERE compare no keys."""
    equalities: list[Equality] = []
    conditions: list[exp.Expression] = []
    report: list[Diagnostic] = []
    for part in parts:
        try:
            equality = key_equality(part, left, right, scope, context)
            if equality is None:
                conditions.append(condition(part, scope, "ON"))
            else:
                equalities.append(equality)
        except CompileError as error:
            report.extend(error.diagnostics)
    for part in filters:
        try:
            conditions.append(condition(part, scope, "WHERE"))
        except CompileError as error:
            report.extend(error.diagnostics)
    if not equalities and not report:
        both = all(isinstance(rows.node.shape, KStream) for rows in (left, right))
        found = J008.at(right_part(join), "every left row would meet every right row" + " in the interval" * both)
        report.append(found.with_hint("ON the key of one side = the key of the other" + " AND …" * both))
    if report:
        raise CompileError(report)
    return equalities, conditions


def key_equality(part: exp.Expression, left: Rows, right: Rows, scope: Scope, context: Context) -> Equality | None:
    """`part` as an equality of a left and a right expression of one type, None if it is none."""
    node = part.unnest()
    if not isinstance(node, exp.EQ):
        return None
    first, second = scalar(node.this.unnest(), scope), scalar(node.expression.unnest(), scope)
    sides = (only_side(first.expression, left.node, right.node), only_side(second.expression, left.node, right.node))
    if sides == ("right", "left"):
        first, second = second, first
    elif sides != ("left", "right"):
        return None
    for typed in (first, second):
        if not scalars.is_ordered(typed.type):
            raise CompileError([K018.at(part.meta["span"], "", type=typed.type)])
    if first.type == second.type:
        return first.expression, second.expression
    common = scalars.common_type(first.type, second.type)
    if common is None or not all(scalars.is_lossless(t, common) for t in (first.type, second.type)):
        found = J012.at(part.meta["span"], "", left=first.type, right=second.type)
        raise CompileError([found.with_hint("cast one side so that both have one type")])
    source = first.type if first.type != common else second.type
    found = J013.at(part.meta["span"], "", source=source, target=common)
    context.warnings.append(found.with_hint(f"declare both keys as {common}"))
    return scalars.cast(first.expression, first.type, common), scalars.cast(second.expression, second.type, common)


def only_side(expression: exp.Expression, left: Node, right: Node) -> str:
    """`left` or `right` where the expression uses columns of that side alone, else an empty text."""
    used = {column.name for column in expression.find_all(exp.Column)}
    for side, node in (("left", left), ("right", right)):
        if used and used <= {c.name for c in node.schema}:
            return side
    return ""


def filtered(node: Node, conditions: Sequence[exp.Expression]) -> Node:
    whole = conjunction(conditions)
    if whole is None:
        return node
    return Filter(schema=node.schema, shape=node.shape, span=node.span, input=node, condition=whole)


def joined_schema(kind: ast.JoinKind, left: Node, right: Node) -> tuple[Column, ...]:
    """The columns of the joined rows; those of a padded side may be NULL."""
    if kind in (ast.JoinKind.SEMI, ast.JoinKind.ANTI):
        return left.schema
    return (*left.schema, *right.schema)
