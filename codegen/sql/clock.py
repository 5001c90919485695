"""The view of the clock -> the watermark in force and the number of the micro-batch, as values of a query.

They are fields of one struct. Spark writes a single time or number into the code that it generates, and would compile
that code anew in each micro-batch. It hands a struct to the code.
"""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.sql.trees import column, select
from penstock.planner.plan import Expression


def read_watermark(clock: str) -> Expression:
    """The watermark in force."""
    return _read(clock, "watermark")


def read_row_watermark(clock: str) -> Expression:
    """The watermark of the rows of a query with sessions, for which Spark's is held back."""
    return _read(clock, "row_watermark")


def read_batch(clock: str) -> Expression:
    """The number of the micro-batch."""
    return _read(clock, "batch")


def _read(clock: str, field: str) -> Expression:
    return exp.Dot(this=exp.Subquery(this=select([column("now")], clock)), expression=exp.to_identifier(field))
