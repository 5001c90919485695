"""How many files a task of Spark reads."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.codegen.program import Input

_COST_SETTING = "spark.sql.files.openCostInBytes"
_MAXIMUM_SETTING = "spark.sql.files.maxPartitionNum"
_ONE_FILE = str(1 << 62)
"""What it costs to open a file so that no task takes a second one."""


def files_settings(inputs: Iterable[Input]) -> dict[str, str | None]:
    """Settings of Spark for a query over these inputs; None is the value that Spark has by default.

    Where files have headers, a task is to read one file. Spark gives a task several ones if there is a largest number
    of tasks, whatever it costs to open a file.
    """
    return {_COST_SETTING: _ONE_FILE, _MAXIMUM_SETTING: None} if any(each.has_header for each in inputs) else {}
