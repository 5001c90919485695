"""Filter, Project, GroupingSets, UnionAll and their like over lists of rows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from penstock.evaluator.expression_values import evaluate_scalar, holds
from penstock.evaluator.typed_values import Row, columns, fit
from penstock.planner.plan import Expression, Filter, GroupingSets, Project, Scan, UnionAll, Unnest, WithLate
from penstock.planner.plan.late import LATENESS
from penstock.planner.types import BIGINT


def filter_rows(node: Filter, rows: list[Row]) -> list[Row]:
    """The rows for which the condition is true."""
    types = columns(node.input.schema)
    return [row for row in rows if holds(node.condition, row, types)]


def project(node: Project, rows: list[Row]) -> list[Row]:
    """One row of computed columns per row."""
    types = columns(node.input.schema)
    return [{item.name: fit(evaluate_scalar(item.value, row, types), item.type) for item in node.items} for row in rows]


def union_all(node: UnionAll, inputs: list[list[Row]]) -> list[Row]:
    """All rows of all inputs, renamed by position to the names of the first."""
    names = [column.name for column in node.schema]
    return [dict(zip(names, row.values(), strict=True)) for rows in inputs for row in rows]


def grouping_sets(node: GroupingSets, rows: list[Row]) -> list[Row]:
    """Each row once per set; the highest bit of a set's id is for the first key, and 1 where it is left out."""
    types = columns(node.input.schema)
    result = []
    for row in rows:
        for id_ in node.ids:
            left_out = dict(zip(reversed(node.keys), (bit == "1" for bit in reversed(f"{id_:064b}")), strict=False))
            keys = {key.name: None if left_out[key] else evaluate_scalar(key.value, row, types) for key in node.keys}
            result.append(row | {node.id_column: id_} | keys)
    return result


def unnest(node: Unnest, rows: list[Row]) -> list[Row]:
    """Each row once for each element of an array, or for each entry of a map."""
    types = columns(node.input.schema)
    result = []
    for row in rows:
        value = evaluate_scalar(node.value, row, types) or []
        entries = list(value.items()) if isinstance(value, dict) else [(each,) for each in value]
        for place, entry in enumerate(entries):
            position = {} if node.position is None else {node.position: place}
            result.append(row | position | dict(zip(node.elements, entry, strict=True)))
        if not entries and node.outer:
            result.append(row | dict.fromkeys(node.given_names))
    return result


def distinct(rows: list[Row]) -> list[Row]:
    """The rows, equal ones once; NULLs are equal."""
    return list({repr(sorted(row.items())): row for row in rows}.values())


def result_rows(node: WithLate, rows: list[Row]) -> list[Row]:
    """The rows of the result, as they stand beside late ones."""
    names = [each.name for each in node.schema]
    width = len(node.input.schema)
    rest = [None] * (len(names) - 1 - width)
    return [
        dict(zip(names, [False, *(row[each.name] for each in node.input.schema), *rest], strict=True)) for row in rows
    ]


def late_rows(
    node: WithLate, scan: Scan, shown: Iterable[Expression], rows: Iterable[Row], watermark: datetime
) -> list[Row]:
    """The late rows of a scan, as they stand beside the result. `watermark`: the one that they are behind."""
    names = [each.name for each in node.schema]
    types = {**columns(scan.schema), LATENESS: BIGINT}
    empty = [None] * len(node.input.schema)
    result = []
    for row in rows:
        behind = -((row[str(scan.origin.time)] - watermark) // timedelta(milliseconds=1))  # rounded up
        known = row | {LATENESS: behind}
        values = [
            fit(evaluate_scalar(each, known, types), column.type)
            for each, column in zip(shown, node.schema[1 + len(empty) :], strict=True)
        ]
        result.append(dict(zip(names, [True, *empty, *values], strict=True)))
    return result
