"""Queries, relations and their clauses -> canonical text, as pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from sqlglot import exp

from penstock.parser.ast import (
    Duration,
    EmitChanges,
    EmitEarly,
    EmitFinal,
    Item,
    Join,
    JoinKind,
    Late,
    Name,
    NoTable,
    OverClause,
    PartitionBy,
    Query,
    Relation,
    Scalar,
    Select,
    SetOperation,
    SetQuery,
    Subquery,
    Table,
    UnionQuery,
    UnnestedTable,
    Unnesting,
    WindowedTable,
    With,
    Within,
)
from penstock.parser.ast.queries import Emit
from penstock.parser.unparse_scalars import Pieces, name_text, over_node_pieces, separate, string_text


def query_pieces(query: Query) -> Pieces:
    """A query, one level deep."""
    match query:
        case Select():
            return _select(query)
        case UnionQuery():
            pieces: Pieces = _operand(query.branches[0], 1)
            for each in query.branches[1:]:
                pieces += [" UNION ALL ", *_operand(each, 2)]
            return pieces
        case SetQuery():
            level = _level(query)
            return [*_operand(query.left, level), f" {query.operation.value} ", *_operand(query.right, level + 1)]
        case With():
            pieces = []
            for table in query.tables:
                columns = _columns(table.columns) if table.columns else ""
                pieces += [", " if pieces else "WITH ", name_text(table.name.text), columns, " AS (", table.query, ")"]
            return [*pieces, " ", query.body]
        case _:
            assert_never(query)


def _operand(query: Query, level: int) -> Pieces:
    """A query beside UNION, EXCEPT or INTERSECT, in parentheses if it does not hold together as tightly."""
    return [query] if _level(query) >= level else ["(", query, ")"]


def _level(query: Query) -> int:
    """How tightly the parts of a query hold together."""
    match query:
        case Select():
            return 3
        case SetQuery():
            return 2 if query.operation is SetOperation.INTERSECT else 1
        case UnionQuery():
            return 1
        case With():
            return 0
        case _:
            assert_never(query)


def _select(select: Select) -> Pieces:
    pieces: Pieces = ["SELECT "]
    if select.stream:
        pieces.append("STREAM ")
    if select.distinct:
        pieces.append("DISTINCT ")
    pieces += separate(select.items)
    if not isinstance(select.relation, NoTable):
        pieces += [" FROM ", select.relation]
    is_beside_all = _is_beside_all(select.group_by)
    if is_beside_all:
        pieces += _group_window(select.group_by[1])
    if select.where is not None:
        pieces += [" WHERE ", select.where]
    if select.deduplicate is not None:
        keys, within = select.deduplicate.keys, duration_text(select.deduplicate.within)
        pieces += [" DEDUPLICATE ON (", *separate(keys), f") WITHIN {within}"]
    if select.group_by:
        pieces += [" GROUP BY ", *separate(select.group_by[:1] if is_beside_all else select.group_by)]
    if select.having is not None:
        pieces += [" HAVING ", select.having]
    for i, window in enumerate(select.windows):
        pieces += [", " if i else " WINDOW ", name_text(window.name.text), " AS ", *over_node_pieces(window.over)]
    if select.qualify is not None:
        pieces += [" QUALIFY ", select.qualify]
    if select.partition_by is not None:
        pieces += _partition_by(select.partition_by)
    if select.emit is not None:
        pieces += _emit(select.emit)
    if select.grace is not None:
        pieces.append(f" GRACE PERIOD {duration_text(select.grace)}")
    if select.retention is not None:
        pieces.append(f" RETENTION {duration_text(select.retention)}")
    if select.late is not None:
        pieces.append(_late(select.late))
    if select.order_by is not None:
        pieces += [" ORDER BY ", *separate(select.order_by.keys)]
    if select.limit is not None:
        pieces += [f" LIMIT {select.limit.count}"] if select.limit.count is not None else []
        pieces += [f" OFFSET {select.limit.skipped}"] if select.limit.skipped else []
    return pieces


def _is_beside_all(keys: Sequence[Scalar]) -> bool:
    """Whether a window stands beside GROUP BY ALL, and so in a clause of its own."""
    return len(keys) > 1 and isinstance(keys[0], exp.Var)


def _group_window(window: Scalar) -> Pieces:
    """`WINDOW TUMBLING (SIZE …)`."""
    _, *lengths = window.expressions
    match str(window.this):
        case "TUMBLE":
            parts: Pieces = ["TUMBLING (SIZE ", lengths[0]]
        case "HOP":
            parts = ["HOPPING (SIZE ", lengths[1], ", ADVANCE BY ", lengths[0]]
        case _:
            parts = ["SESSION (", lengths[0]]
    return [" WINDOW ", *parts, ")"]


def item_pieces(item: Item) -> Pieces:
    """One column of a SELECT list."""
    excluded = [f" EXCEPT{_columns(item.excluded)}"] if item.excluded else []
    columns = [f" AS{_columns(item.columns)}"] if item.columns else []
    return [item.value, *_alias(item.alias), *excluded, *columns]


def _alias(alias: Name | None) -> Pieces:
    return [] if alias is None else [f" AS {name_text(alias.text)}"]


def _over(over: OverClause | None) -> Pieces:
    return [] if over is None else [" OVER ", *over_node_pieces(over)]


def _partition_by(clause: PartitionBy) -> Pieces:
    into = "" if clause.into is None else f" INTO {clause.into} PARTITIONS"
    return [" PARTITION BY ", *separate(clause.keys), into]


def _emit(emit: Emit) -> Pieces:
    match emit:
        case EmitChanges():
            return [" EMIT CHANGES"]
        case EmitFinal():
            return [" EMIT FINAL"]
        case EmitEarly():
            return [f" EMIT EARLY EVERY {duration_text(emit.every)}"]
        case _:
            assert_never(emit)


def _late(late: Late) -> str:
    return " LATE DROP" if late.into is None else f" LATE INTO {name_text(late.into.text)}"


def duration_text(duration: Duration) -> str:
    """An interval in a clause."""
    return f"INTERVAL {string_text(duration.quantity)} {duration.unit}"


def relation_pieces(relation: Relation) -> Pieces:
    """A relation in FROM, one level deep."""
    match relation:
        case Table():
            pieces: Pieces = [name_text(relation.name.text)]
            if relation.as_of is not None:
                pieces += [" FOR SYSTEM_TIME AS OF ", relation.as_of]
            columns = [_columns(relation.columns)] if relation.columns else []
            return [*pieces, *_alias(relation.alias), *columns, *_over(relation.over)]
        case Subquery():
            columns = [_columns(relation.columns)] if relation.columns else []
            return ["(", relation.query, ")", *_alias(relation.alias), *columns, *_over(relation.over)]
        case NoTable():
            return []
        case WindowedTable():
            lengths = "".join(f", {duration_text(duration)}" for duration in relation.durations)
            marked = [] if relation.keys is None else ["TABLE "]
            keys = [" PARTITION BY (", *separate(relation.keys), ")"] if relation.keys else []
            inner = [relation.kind.value, "(", *marked, relation.relation, *keys, ", ", relation.time, lengths, ")"]
            return [*inner, *_alias(relation.alias)]
        case UnnestedTable():
            ordinality = [" WITH ORDINALITY"] if relation.ordinality else []
            columns = [_columns(relation.columns)] if relation.columns else []
            return ["UNNEST(", relation.value, ")", *ordinality, *_alias(relation.alias), *columns]
        case Join():
            return _join(relation)
        case _:
            assert_never(relation)


def _columns(names: tuple[Name, ...]) -> str:
    return f" ({', '.join(name_text(each.text) for each in names)})"


def _lateral_view(view: UnnestedTable, outer: bool) -> Pieces:
    alias = [] if view.alias is None else [f" {name_text(view.alias.text)}"]
    columns = ", ".join(name_text(each.text) for each in view.columns)
    words = f" LATERAL VIEW {'OUTER ' * outer}{view.function.value}("
    return [words, view.value, ")", *alias, *([f" AS {columns}"] if columns else [])]


def _join(join: Join) -> Pieces:
    if isinstance(join.right, UnnestedTable) and join.right.function is not Unnesting.UNNEST:
        return [join.left, *_lateral_view(join.right, join.kind is JoinKind.LEFT)]
    natural = " NATURAL" if join.natural else ""
    pieces: Pieces = [join.left, f"{natural} {join.kind.value} JOIN ", join.right]
    if join.within is not None:
        pieces.append(_within(join.within))
    if join.on is not None:
        pieces += [" ON ", join.on]
    if join.using:
        pieces.append(f" USING ({', '.join(name_text(each.text) for each in join.using)})")
    return pieces


def _within(within: Within) -> str:
    before, after = duration_text(within.before), duration_text(within.after)
    grace = "" if within.grace is None else f" GRACE PERIOD {duration_text(within.grace)}"
    return (f" WITHIN {before}" if before == after else f" WITHIN ({before} BEFORE, {after} AFTER)") + grace
