"""AST joins of tables on their primary keys -> one node for all of them. Legality of the kinds lives in matrix.py."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.joins import J012, J016, J017, J018
from penstock.parser import ast
from penstock.planner import scalars
from penstock.planner.lower.from_rows import FromRows
from penstock.planner.lower.intermediates import materialise_input
from penstock.planner.lower.joins.conditions import Equality
from penstock.planner.lower.joins.sides import find_right_span, join_columns, join_scopes
from penstock.planner.lower.select_items import WINDOW_COLUMNS, find_value_column, is_same, key_text
from penstock.planner.plan import (
    Column,
    JoinType,
    KStream,
    KTable,
    Node,
    Side,
    Step,
    TableJoin,
    WTable,
    conjunction,
    find_columns,
    make_column,
)
from penstock.planner.types import Type


class Keyed(msgspec.Struct, frozen=True):
    """A table in a join: which of its columns are the primary key, and what else has the value of each."""

    node: Node

    @property
    def shape(self) -> KTable | WTable:
        return table_shape(self.node)

    def place(self, expression: exp.Expression) -> int | None:
        """Which key column the expression has the value of wherever it is not NULL."""
        for place, name in enumerate(self.shape.key):
            sides = self.node.sides if isinstance(self.node, TableJoin) else ()
            known = [key_column(side, place) for side in sides] or [name]
            if is_same(expression, self.node, [frozenset([each]) for each in known]):
                return place
        return None


def lower_primary_join(
    join: ast.Join,
    left: FromRows,
    right: FromRows,
    equalities: Sequence[Equality],
    conditions: Sequence[exp.Expression],
    shift: int,
    windows: frozenset[str],
) -> FromRows | None:
    """The join of two tables on both their primary keys, None if it is on something else; raises CompileError.

    For windowed tables, `shift` is as in the plan. `windows` are the window columns of the left side that are compared.
    """
    lefts, rights = Keyed(left.node), Keyed(right.node)
    compared = match_keys(equalities, lefts, rights)
    if compared is None:
        return None
    chosen = [equalities[number] for number, _ in compared]
    others = [pair for pair in equalities if pair not in chosen]
    rest = [*conditions, *(exp.EQ(this=one, expression=other) for one, other in others)]
    fused = left.node if isinstance(left.node, TableJoin) else wrap_table(left.node)
    through = tuple(find_sides(one, fused) for one, _ in chosen)
    through += tuple(
        frozenset([number])
        for number, side in enumerate(fused.sides)
        if windows & set(table_shape(side.input).identity[len(through) :])
    )
    condition = conjunction(rest)
    type_ = JoinType[join.kind.name]
    join_span = find_right_span(join)
    if type_ is JoinType.FULL:
        if condition is not None:
            found = J017.at(find_condition_span(rest) or join_span, "decides whether two rows of one key match")
            reason = "If it is false, both rows come out, each padded, with the same key."
            raise CompileError([found.because(reason).with_hint("filter the sides in subqueries instead")])
        if not all(any(group <= each for group in find_shown_groups(fused.steps)) for each in through):
            found = J017.at(join_span, "compares columns that can be NULL in rows of the left side")
            hint = ", ".join(key_text(lefts.shape, name) for name in lefts.shape.key)
            raise CompileError([found.with_hint(f"compare the key of the left side: {hint}")])
        if has_nullable_key(fused) and any(right.node.column(name).nullable for name in rights.shape.key):
            found = J016.at(join_span, "").because("NULL equals nothing, so two rows with the key NULL would come out.")
            raise CompileError([found.with_hint(f"WHERE {key_name(right)} IS NOT NULL in a subquery of one side")])
    keys = tuple(make_column(rights.shape.key[place]) for _, place in compared)
    sides = (*fused.sides, Side(materialise_input(right.node), keys, shift))
    steps = (*fused.steps, Step(type_, through, condition))
    types = [find_common_type(sides, place, join_span) for place in range(len(chosen))]
    sides = tuple(replace(side, keys=cast_keys(side, types)) for side in sides)
    node = replace(
        fused,
        schema=derive_schema(fused, right.node, type_, types),
        shape=derive_shape(sides, steps),
        span=join_span,
        sides=sides,
        steps=steps,
    )
    return FromRows(node, join_scopes(left, right), f"{left.name} and {right.name}")


def match_keys(equalities: Sequence[Equality], lefts: Keyed, rights: Keyed) -> list[tuple[int, int]] | None:
    """For each key column of the left side the equality that compares it, and the place of the right one; or None.

    The keys have to be compared one for one, so that a row meets at most one of the other side, whichever it is.
    """
    numbers: dict[tuple[int, int], int] = {}
    for number, (one, other) in enumerate(equalities):
        left, right = lefts.place(one), rights.place(other)
        if left is not None and right is not None:
            numbers.setdefault((left, right), number)
    partners: dict[int, int] = {}  # the partners of the right columns

    def pair(left: int, tried: set[int]) -> bool:
        """Whether the column has got a partner, maybe one whose own has another to go to."""
        for right in (right for one, right in numbers if one == left):
            if right not in tried:
                tried.add(right)
                if right not in partners or pair(partners[right], tried):
                    partners[right] = left
                    return True
        return False

    count = len(lefts.shape.key)
    if not lefts.shape.identity or count != len(rights.shape.key):
        return None
    if not all(pair(left, set()) for left in range(count)):
        return None
    return [(numbers[left, right], right) for right, left in sorted(partners.items(), key=lambda each: each[1])]


def table_shape(node: Node) -> KTable | WTable:
    assert not isinstance(node.shape, KStream)
    return node.shape


def wrap_table(node: Node) -> TableJoin:
    """One table as a join without steps."""
    shape = table_shape(node)
    names = [f"key{place + 1}" for place in range(len(shape.key))]
    names += list(WINDOW_COLUMNS) if isinstance(shape, WTable) else []
    keys = tuple(replace(node.column(own), name=name) for name, own in zip(names, shape.identity, strict=True))
    side = Side(materialise_input(node), tuple(make_column(name) for name in shape.key))
    return TableJoin(
        schema=(*keys, *node.schema),
        shape=derive_shape((side,), ()),
        span=node.span,
        sides=(side,),
        steps=(),
    )


def find_shown_groups(steps: Sequence[Step]) -> list[frozenset[int]]:
    """Groups of sides.

    In every row of the join, at least one side of each group shows a row. Each group is enough by itself.
    """
    groups = [frozenset([0])]
    for number, step in enumerate(steps, start=1):
        new = frozenset([number])
        match step.type:
            case JoinType.INNER:
                groups = list(dict.fromkeys([*groups, *step.through, new]))
            case JoinType.RIGHT:
                groups = [new]
            case JoinType.FULL:
                groups = [group | new for group in groups]
            case _:
                pass
    return groups


def derive_shape(sides: Sequence[Side], steps: Sequence[Step]) -> KTable | WTable:
    """The columns that tell the rows of a join apart, and what else has their values."""
    key = tuple(f"key{place + 1}" for place in range(len(sides[0].keys)))
    groups = list(dict.fromkeys([*find_shown_groups(steps), frozenset(range(len(sides)))]))
    same = tuple(
        tuple(frozenset(key_column(sides[number], place) for number in group) for group in groups)
        for place in range(len(key))
    )
    shapes = [side.input.shape for side in sides]
    if not isinstance(shapes[0], WTable):
        return KTable(key, same)
    shifted = frozenset(number for number, side in enumerate(sides) if side.shift)
    groups = [group for group in groups if not group & shifted]
    same += tuple(
        tuple(frozenset(table_shape(sides[number].input).identity[place] for number in group) for group in groups)
        for place in range(len(key), len(key) + len(WINDOW_COLUMNS))
    )
    return WTable(key, *WINDOW_COLUMNS, same)


def derive_schema(left: TableJoin, right: Node, type_: JoinType, types: Sequence[Type]) -> tuple[Column, ...]:
    """The key columns and the window, then the columns of the sides. The columns of a padded side can be NULL."""
    count, whole = len(types), len(table_shape(left).identity)
    left_nullable = [each.nullable for each in left.schema[:count]]
    right_nullable = [right.column(name).nullable for name in table_shape(right).key]
    match type_:
        case JoinType.INNER:
            nullable = [False] * count
        case JoinType.LEFT:
            nullable = left_nullable
        case JoinType.RIGHT:
            nullable = right_nullable
        case _:
            nullable = [one or other for one, other in zip(left_nullable, right_nullable, strict=True)]
    keys = [Column(f"key{n + 1}", each, nullable[n]) for n, each in enumerate(types)]
    return (*keys, *left.schema[count:whole], *join_columns(type_, left.schema[whole:], right.schema))


def find_sides(expression: exp.Expression, node: TableJoin) -> frozenset[int]:
    """The sides whose key the expression, a column or COALESCE of columns, is made of."""
    names = find_columns(expression)
    return frozenset(
        number
        for number, side in enumerate(node.sides)
        if any(key_column(side, place) in names for place in range(len(side.keys)))
    )


def has_nullable_key(node: TableJoin) -> bool:
    return any(each.nullable for each in node.schema[: len(node.sides[0].keys)])


def key_name(rows: FromRows) -> str:
    """The first key column of a table as it is written."""
    name = rows.node.shape.key[0]
    return next((f"{c.relation}.{c.name}" for c in rows.scope.columns if c.column == name), name)


def key_column(side: Side, place: int) -> str:
    """The column of a side that is its key at that place."""
    name = find_value_column(side.keys[place], side.input)
    assert name is not None
    return name


def find_common_type(sides: Sequence[Side], place: int, span: Span) -> Type:
    """The type in which the keys of all sides are compared; raises CompileError where it cannot tell all keys apart.

    Each equality has one that can, but that may not hold for all of them: BIGINT with INT, and INT with DOUBLE.
    """
    types = [side.input.column(key_column(side, place)).type for side in sides]
    common: Type | None = types[0]
    for type_ in types[1:]:
        common = None if common is None else scalars.common_type(common, type_)
    lossy = [type_ for type_ in types if common is None or not scalars.is_lossless(type_, common)]
    if common is None or lossy:
        found = J012.at(span, "", left=lossy[0], right=common or types[-1])
        found = found.because(f"The keys of all these tables need one common type: {', '.join(map(str, types))}.")
        raise CompileError([found.with_hint("declare all keys with one type")])
    return common


def cast_keys(side: Side, types: Sequence[Type]) -> tuple[exp.Expression, ...]:
    columns = [side.input.column(key_column(side, place)) for place in range(len(types))]
    return tuple(scalars.cast(make_column(each.name), each.type, to) for each, to in zip(columns, types, strict=True))


def find_condition_span(parts: Sequence[exp.Expression]) -> Span | None:
    return next((part.meta["span"] for part in parts if "span" in part.meta), None)


def explain_wrong_key(join: ast.Join, right: FromRows, compared: Sequence[exp.Expression]) -> CompileError:
    """The error of a join of tables on neither one's whole primary key."""
    names = {c.column: f"{c.relation}.{c.name}" if c.relation else c.name for c in right.scope.columns}
    shape = table_shape(right.node)
    if not shape.identity:
        return CompileError(
            [B002.at(find_right_span(join), "", construct="a join with a table of one row, without a key")]
        )
    wanted = [*shape.key, *([shape.start] if isinstance(shape, WTable) else [])]
    key = ", ".join(names.get(name) or key_text(shape, name) for name in wanted)
    shown = ", ".join(names.get(find_value_column(each, right.node) or "", "an expression") for each in compared)
    found = J018.at(find_right_span(join), "", compared=shown, relation=right.name, key=key)
    found = found.because("A table is looked up by its whole primary key.")
    hint = f"compare {key}, or GROUP BY the compared columns to make them a key"
    if isinstance(shape, WTable):
        hint = f"compare {key}; or SELECT STREAM on both sides: rows of windows that are final have other keys, too"
    return CompileError([found.with_hint(hint)])
