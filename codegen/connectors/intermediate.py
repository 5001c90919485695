"""Intermediate streams, for ejected programs."""

from __future__ import annotations

from penstock.codegen.program import Input, SparkQuery
from penstock.codegen.python_literals import literal


def read(source: Input) -> str:
    """The code that reads an intermediate stream."""
    columns = ", ".join(f"{literal(name)}: {literal(type_)}" for name, type_ in source.columns)
    return f"read_intermediate(spark, {{{columns}}}, written_by(spark, checkpoint, {literal(source.name)}))"


def write(query: SparkQuery) -> str:
    """The code that writes an intermediate stream to Parquet files below the checkpoint."""
    function = "write_changes" if query.mode == "update" else "write_files"
    return f'{function}(rows, f"{{checkpoint}}/rows", "parquet")'
