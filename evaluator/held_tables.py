"""Tables as what they hold: the newest row of each key, and joins of tables as a loop over all pairs of rows.

The records of a changelog are rows with the columns of its scan and, where the table has one, its operation column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from penstock.evaluator.expression_values import compare, evaluate_scalar, holds
from penstock.evaluator.row_pairs import LEFT_KEPT, RIGHT_KEPT
from penstock.evaluator.typed_values import Row, Value, columns, milliseconds
from penstock.planner.plan import (
    Expression,
    ForeignKeyJoin,
    JoinType,
    Node,
    RemoteLookup,
    Scan,
    TableJoin,
    TableLookup,
    WTable,
)
from penstock.planner.plan.scan import DELETES


def is_rejected(scan: Scan, record: Row) -> bool:
    """Whether a record has no key or no place in the order of the records."""
    newest = scan.origin.newest
    return None in [record[name] for name in scan.origin.key] or (newest is not None and record[newest] is None)


def deletes(scan: Scan, record: Row) -> bool:
    """Whether a record is a tombstone."""
    operation = scan.origin.operation
    return operation is not None and str(record[operation]).lower() in DELETES


def materialised(scan: Scan, records: Sequence[Row]) -> list[Row]:
    """The table that a changelog comes to: the newest record of each key, unless it deletes.

    Newest is the greatest sequence, of several the one that comes last.
    """
    newest = scan.origin.newest
    kept: dict[tuple[Value, ...], Row] = {}
    for record in records:
        if is_rejected(scan, record):
            continue
        key = tuple(record[name] for name in scan.origin.key)
        known = kept.get(key)
        if known is None or newest is None or known[newest] <= record[newest]:
            kept[key] = record
    return [
        {column.name: record[column.name] for column in scan.schema}
        for record in kept.values()
        if not deletes(scan, record)
    ]


def table_join(node: TableJoin, tables: Sequence[list[Row]]) -> list[Row]:
    """The sides joined one after the other, as SQL says; then the key of each row, from the sides that it has."""
    rows = tables[0]
    names = [column.name for column in node.sides[0].input.schema]
    for number, step in enumerate(node.steps, start=1):
        added = [column.name for column in node.sides[number].input.schema]
        meets = partial(matches, node, number)
        rows = joined(step.type, rows, tables[number], meets, (names, added))
        names = [*names, *added]
    keys = [[side.keys[place] for side in node.sides] for place in range(len(node.sides[0].keys))]
    identity = node.identity
    return [
        {name: first_known(each, row, node) for name, each in zip(identity[: len(keys)], keys, strict=True)}
        | dict(zip(identity[len(keys) :], window_of(node, row), strict=True))
        | {column.name: row[column.name] for column in node.schema[len(identity) :]}
        for row in rows
    ]


def window_of(node: TableJoin, row: Row) -> tuple[Value, ...]:
    """The window of a row of one or more sides, as each side's counts; nothing of tables without windows."""
    for side in node.sides:
        shape = side.input.shape
        if isinstance(shape, WTable) and row.get(shape.start) is not None:
            return tuple(row[name] + milliseconds(side.shift) for name in (shape.start, shape.end))
    return ()


def matches(node: TableJoin, number: int, left: Row, right: Row) -> bool:
    """Whether a row of the sides before and one of that side satisfy the ON of its join."""
    step, side = node.steps[number - 1], node.sides[number]
    for place, group in enumerate(step.through[: len(side.keys)]):
        one = first_known([node.sides[each].keys[place] for each in sorted(group)], left, node)
        if not compare("=", one, first_known([side.keys[place]], right, node)):
            return False
    if window_of(node, left) != window_of(node, right):
        return False
    for group in step.through[len(side.keys) :]:  # window columns that are compared must not be padded
        starts = [table_shape(node.sides[each].input).start for each in group]
        if all(left[start] is None for start in starts):
            return False
    types = {name: type_ for each in node.sides[: number + 1] for name, type_ in columns(each.input.schema).items()}
    return holds(step.condition, left | right, types)


def joined(
    type_: JoinType,
    lefts: list[Row],
    rights: list[Row],
    matches: Callable[[Row, Row], bool],
    names: tuple[Sequence[str], Sequence[str]],
) -> list[Row]:
    """All pairs that match, and the rows of the preserved sides without a partner, padded. `names`: both sides'."""
    pairs = [(i, j) for i, left in enumerate(lefts) for j, right in enumerate(rights) if matches(left, right)]
    result = [lefts[i] | rights[j] for i, j in pairs]
    if type_ in LEFT_KEPT:
        result += [row | dict.fromkeys(names[1]) for i, row in enumerate(lefts) if i not in {i for i, _ in pairs}]
    if type_ in RIGHT_KEPT:
        result += [dict.fromkeys(names[0]) | row for j, row in enumerate(rights) if j not in {j for _, j in pairs}]
    return result


def referring(
    node: ForeignKeyJoin | TableLookup, rows: tuple[Sequence[Row], Sequence[Row]], sides: tuple[Node, Node]
) -> list[Row]:
    """Each left row beside the right one that it refers to; there must not be two."""
    left, right = (columns(side.schema) for side in sides)
    result, referred = list[Row](), list[Row]()
    for one in rows[0]:
        found = [
            other
            for other in rows[1]
            if all(
                compare("=", evaluate_scalar(a, one, left), evaluate_scalar(b, other, right))
                for a, b in node.equalities
            )
        ]
        assert len(found) <= 1, "a row refers to two rows"
        found = [other for other in found if holds(node.condition, one | other, {**left, **right})]
        result += [one | other for other in found]
        referred += found
        if not found and node.type in LEFT_KEPT:
            result.append(one | dict.fromkeys(right))
    if node.type in RIGHT_KEPT:
        result += [dict.fromkeys(left) | other for other in rows[1] if not any(other is each for each in referred)]
    return result


def found_remotely(node: RemoteLookup, rows: Sequence[Row], table: Sequence[Row]) -> list[Row]:
    """Each row beside the row of the table that has its key. `table`: the rows that the database has then."""
    types = columns(node.input.schema)
    result: list[Row] = []
    for one in rows:
        key = {each.column: evaluate_scalar(each.value, one, types) for each in node.keys}
        found = [other for other in table if all(compare("=", other[name], value) for name, value in key.items())]
        assert len(found) <= 1, "a key has two rows"
        beside = {} if node.any_row is None else {node.any_row: bool(table)}
        result += [one | {each.name: other[each.column] for each in node.columns} | beside for other in found]
        if not found and node.type is JoinType.LEFT:
            result.append(one | {each.name: None for each in node.columns} | beside)
    return result


def table_shape(node: Node) -> WTable:
    """The shape of a windowed table."""
    assert isinstance(node.shape, WTable)
    return node.shape


def first_known(keys: Sequence[Expression], row: Row, node: TableJoin) -> Value:
    """The first of the expressions over a row of the sides that is not NULL."""
    types = {name: type_ for side in node.sides for name, type_ in columns(side.input.schema).items()}
    values = (evaluate_scalar(key, row, types) for key in keys)
    return next((value for value in values if value is not None), None)
