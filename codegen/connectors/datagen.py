"""What the runtime is told of generated rows."""

from __future__ import annotations

from penstock.codegen.program import Input
from penstock.planner.plan.generated_columns import GeneratedColumn, count_rows, read_generated


def list_generated(source: Input) -> tuple[list[GeneratedColumn], int | None]:
    """The columns, and after how many rows the stream ends, None if never."""
    columns = read_generated(source.columns, dict(source.options))
    declared = source.number("number_of_rows") if "number_of_rows" in source.values else None
    return columns, count_rows(columns, declared)
