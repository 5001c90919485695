"""The places of rows among the rows of one event time and partition, counted row by row."""

from __future__ import annotations

from penstock.evaluator.expression_values import evaluate_scalar
from penstock.evaluator.typed_values import Row, Value, columns
from penstock.planner.plan import KStream, Ranked, Ranking, TableRanked


def ranked(node: Ranked | TableRanked, rows: list[Row]) -> list[Row]:
    """Each row with its places beside it. A table has no rows that its limit leaves out."""
    peers: dict[str, list[Row]] = {}
    for row in rows:
        peers.setdefault(partition_of(node, row), []).append(row)
    placed = [
        row | {each.name: place(node, each, row, others) for each in node.rankings}
        for others in peers.values()
        for row in numbered(others, key_of_table(node))
    ]
    most = node.most if isinstance(node, TableRanked) else None
    return [row for row in placed if most is None or row[node.rankings[0].name] <= most]


def partition_of(node: Ranked | TableRanked, row: Row) -> str:
    """What rows that are ranked together have in common."""
    types = columns(node.input.schema)
    time = [row[node.time]] if isinstance(node, Ranked) and node.pane is None else []
    return repr([*time, *(evaluate_scalar(each, row, types) for each in node.partition_by)])


def numbered(rows: list[Row], key: tuple[str, ...] | None = None) -> list[Row]:
    """The rows in the order of all their columns, or of a key, NULL first: equal rows get places of their own."""
    return sorted(rows, key=lambda row: [ascending(row[name]) for name in (row if key is None else key)])


def key_of_table(node: Ranked | TableRanked) -> tuple[str, ...] | None:
    """The key of the table that is ranked, None of a stream."""
    shape = node.input.shape
    return None if isinstance(shape, KStream) else shape.identity


def ascending(value: Value) -> tuple[bool, Value]:
    return value is not None, 0 if value is None else value


def place(node: Ranked | TableRanked, ranking: Ranking, row: Row, others: list[Row]) -> int:
    """The place of a row among all of its partition, itself included."""
    before = [other for other in others if precedes(node, ranking, other, row)]
    match ranking.function:
        case "RANK":
            return len(before) + 1
        case "DENSE_RANK":
            return len({repr(sorted_by(node, ranking, other)) for other in before}) + 1
        case _:
            same = [
                other
                for other in numbered(others, key_of_table(node))
                if sorted_by(node, ranking, other) == sorted_by(node, ranking, row)
            ]
            return len(before) + next(i for i, other in enumerate(same, 1) if other is row)


def sorted_by(node: Ranked | TableRanked, ranking: Ranking, row: Row) -> list[Value]:
    return [evaluate_scalar(each.value, row, columns(node.input.schema)) for each in ranking.order_by]


def precedes(node: Ranked | TableRanked, ranking: Ranking, one: Row, other: Row) -> bool:
    pairs = zip(sorted_by(node, ranking, one), sorted_by(node, ranking, other), ranking.order_by, strict=True)
    for first, second, sorting in pairs:
        if first == second:
            continue
        if first is None or second is None:
            return (first is None) is sorting.nulls_first
        less: bool = first < second
        return less is not sorting.descending
    return False
