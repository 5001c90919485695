"""Random statements, without Spark: most are accepted, and none asks of Spark what it answers wrongly."""

from __future__ import annotations

from pathlib import Path
from random import Random

import penstock
from penstock.codegen.cut_queries import cut_at_intermediates
from penstock.compilation import compile_read
from penstock.diagnostics import CompileError, Source
from penstock.planner import Catalog
from penstock.planner.plan import Node, RunningQuery, Stateful
from tests.properties import streams
from tests.properties.scripts import read, script

STATEMENTS = 120


def compiled(statements: int = STATEMENTS) -> list[tuple[RunningQuery, ...]]:
    """The queries of the statements that are accepted. What is refused is refused by a finding, not by a crash."""
    found = []
    for seed in range(statements):
        try:
            compilation = penstock.compile(script(Random(seed), Path("data")))
        except CompileError:
            continue
        assert compilation.program.queries
        found.append(compilation.queries)
    return found


def test_most_are_accepted_and_no_operator_with_state_stands_over_another() -> None:
    """Spark's chains of such operators are what re-used exchanges and RocksDB's assertions are about."""
    accepted = compiled()
    streams.tried["statements compiled"] += STATEMENTS
    assert len(accepted) > STATEMENTS // 2
    parts = [part for queries in accepted for query in queries for part in cut_at_intermediates(query, query.name, ())]
    assert max(depth(part.root) for part in parts) == 1
    assert len(parts) > len(accepted)  # there are chains among them


def depth(node: Node) -> int:
    """How many operators with state lie on one path to the sources."""
    return isinstance(node, Stateful) + max(map(depth, node.inputs), default=0)


def test_most_reads_of_rows_that_they_say_themselves_are_accepted() -> None:
    accepted = 0
    for seed in range(STATEMENTS):
        try:
            found = compile_read(Source("<read>", read(Random(seed))), Catalog(), memory=False)
        except CompileError:
            continue
        accepted += bool(found.columns)
    assert accepted > STATEMENTS // 2
