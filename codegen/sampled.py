"""A look at the first records of a declared stream or table, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.codegen.program import Input


@dataclass(frozen=True, slots=True)
class Computed:
    """A computed column: a SELECT of DuckDB over the columns that records hold, which are c0, c1 … there."""

    name: str
    type: str
    sql: str
    constants: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class Sampling:
    """A look at the records of a declared stream or table, without Spark."""

    input: Input
    columns: tuple[tuple[str, str], ...]
    """The columns of records and the METADATA columns, in the order in which DuckDB has them."""
    required: tuple[tuple[str, str], ...]
    """The columns in which NULL sets a row aside, and the reason that is told then."""
    time: str | None
    """The event time by which rows are believed."""
    computed: tuple[Computed, ...]
    shown: tuple[str, ...]
    """The columns of a row that are shown, in their order."""
    left_out: tuple[str, ...]
    """The computed columns that only Spark computes."""
