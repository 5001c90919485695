"""The functions that the installed Spark has."""

from __future__ import annotations

from importlib.metadata import version

from penstock.codegen.spark_versions import read_number
from penstock.planner.functions import FUNCTIONS, Function

SPARK = read_number(version("pyspark")) or (0, 0)
INSTALLED: tuple[Function, ...] = tuple(each for each in FUNCTIONS if each.since is None or each.since <= SPARK)
