"""How many files a task of Spark reads."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.codegen.program import Input

COST_SETTING = "spark.sql.files.openCostInBytes"


def files_cost(inputs: Iterable[Input]) -> int:
    """The COST_SETTING of a query over these inputs: where files have headers, a task is to read one file."""
    return 1 << 50 if any(each.has_header for each in inputs) else 4 << 20
