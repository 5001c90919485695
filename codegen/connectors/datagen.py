"""What the runtime is told of generated rows."""

from __future__ import annotations

from penstock.codegen.program import Input
from penstock.planner.plan.generated_columns import GeneratedColumn, RowCount, count_rows, read_generated


def list_generated(source: Input) -> tuple[list[GeneratedColumn], RowCount]:
    """The columns, and how many rows the stream has."""
    columns = read_generated(source.columns, dict(source.options))
    declared = source.number("number_of_rows") if "number_of_rows" in source.values else None
    return columns, count_rows(columns, declared)
