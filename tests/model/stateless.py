"""Filter, Project and UnionAll over lists of rows."""

from __future__ import annotations

from penstock.planner.plan import Filter, Project, UnionAll
from tests.model.scalars import evaluate_scalar, holds
from tests.model.values import Row, columns, fit


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
