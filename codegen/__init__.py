"""Checked plans -> a Program: settings, views as Spark SQL text, sinks. Plain data, no pyspark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from penstock.codegen.columns import narrowed
from penstock.codegen.panes import answer_panes
from penstock.codegen.program import Program
from penstock.codegen.pyspark import eject
from penstock.codegen.sql.query import lower_query
from penstock.codegen.stages import stages
from penstock.codegen.text import spark_text
from penstock.planner.plan import Node, RunningQuery, Scan

__all__ = ["answer_panes", "eject", "lower", "spark_text"]


def lower(queries: Sequence[RunningQuery], *, state_partitions: int = 4) -> Program:
    """The Spark program of a script's queries. `state_partitions`: into how many parts each operator's state is split.

    The plans have passed all checks; one that can not be lowered is a defect and fails an assertion.
    """
    names = _names([query.name for query in queries])
    shared: dict[Node, Scan] = {}
    narrow = [replace(query, root=narrowed(query.root)) for query in queries]
    parts = [part for query, name in zip(narrow, names, strict=True) for part in stages(query, name, names, shared)]
    return Program(
        settings=_settings(state_partitions), queries=tuple(lower_query(part, state_partitions) for part in parts)
    )


def _settings(state_partitions: int) -> tuple[tuple[str, str], ...]:
    return (
        ("spark.sql.session.timeZone", "UTC"),
        ("spark.sql.ansi.enabled", "true"),
        ("spark.sql.caseSensitive", "false"),
        ("spark.sql.groupByOrdinal", "false"),
        ("spark.sql.parser.escapedStringLiterals", "false"),
        ("spark.sql.variable.substitute", "false"),
        ("spark.sql.runSQLOnFiles", "false"),
        # Re-used exchanges lose rows of self-joined aggregates.
        ("spark.sql.exchange.reuse", "false"),
        ("spark.sql.streaming.multipleWatermarkPolicy", "min"),
        ("spark.sql.shuffle.partitions", str(state_partitions)),
    )


def _names(wanted: Sequence[str]) -> list[str]:
    """Each name as a plain identifier, different from the others without regard to case."""
    taken: list[str] = []
    for name in wanted:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
        plain = plain if re.match(r"[A-Za-z_]", plain) else f"_{plain}"
        number, unique = 1, plain
        while unique.lower() in {other.lower() for other in taken}:
            number += 1
            unique = f"{plain}_{number}"
        taken.append(unique)
    return taken
