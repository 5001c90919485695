"""Spark's answer equals the oracle's: lowered, run in micro-batches, stopped, resumed and drained."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pyspark.sql import SparkSession

from penstock.codegen import lower
from penstock.planner.plan import (
    Aggregate,
    Emission,
    FramedAggregate,
    JoinType,
    Node,
    Over,
    RunningQuery,
    Scan,
    Sink,
    WindowAggregate,
)
from penstock.runtime import QueryReport, Session
from tests.model.evaluate import evaluate
from tests.model.history import Fate, History, clocks, sort_out, write_json_lines
from tests.model.plans import NOWHERE
from tests.model.rows import assert_same_rows
from tests.properties import streams

pytestmark = pytest.mark.spark
HISTORIES = 20
KINDS: dict[str, SearchStrategy[tuple[Node, History]]] = {
    **{type_.value: streams.joins(type_) for type_ in JoinType},
    **{kind: streams.window_aggregates(kind) for kind in streams.windows},
    "over": streams.overs(),
}

# A failing history is printed as it was found: shrinking it would run Spark hundreds of times.
once_each = settings(
    max_examples=HISTORIES,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=list(HealthCheck),
)


def located(node: Node, folders: dict[str, Path]) -> Node:
    """The plan reading JSON files, one a micro-batch, and without DISTINCT aggregates, which Spark has none of."""
    changes: dict[str, Any] = {}
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, Node):
            changes[field.name] = located(value, folders)
        elif field.name == "inputs":
            changes[field.name] = tuple(located(each, folders) for each in value)
    if isinstance(node, Scan):
        options = (("path", str(folders[node.origin.name])), ("format", "json"), ("files_per_batch", 1))
        changes["origin"] = replace(node.origin, options=options)
    elif isinstance(node, WindowAggregate | Over):
        dropped = {plain(each).name for each in node.aggregates if plain(each).distinct}
        changes["aggregates"] = tuple(each for each in node.aggregates if plain(each).name not in dropped)
        changes["schema"] = tuple(column for column in node.schema if column.name not in dropped)
    return replace(node, **changes)


def plain(each: Aggregate | FramedAggregate) -> Aggregate:
    return each.aggregate if isinstance(each, FramedAggregate) else each


def query_of(plan: Node) -> RunningQuery:
    emission, key = Emission.FINAL, tuple[str, ...]()
    if isinstance(plan, WindowAggregate) and plan.emission is Emission.CHANGES:
        emission, key = plan.emission, (*(each.name for each in plan.keys), "window_start", "window_end")
    return RunningQuery("result", plan, Sink("result", "memory", ()), emission, key, NOWHERE)


@pytest.mark.parametrize("kind", KINDS)
def test_spark_equals_oracle(kind: str, spark: SparkSession) -> None:
    @once_each
    @given(KINDS[kind], st.data())
    def check(case: tuple[Node, History], data: st.DataObject) -> None:
        plan, history = case[0], in_few_batches(case[1])
        stop = data.draw(st.integers(0, len(history.batches)), label="stopped before micro-batch")
        partitions = data.draw(st.integers(1, 3), label="state partitions")
        streams.tried[f"{kind} through Spark"] += 1
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            folders = {name: Path(folder, name) for name in history.batches[0]}
            plan = located(plan, folders)
            program = lower([query_of(plan)], state_partitions=partitions)
            with Session(spark, checkpoint=str(Path(folder, "checkpoint"))) as session:
                write_json_lines(history, Path(folder))
                reports: list[QueryReport] = []
                if 0 < stop < len(history.batches):
                    held_back = hold_back(folders.values(), stop)
                    reports += session.run_once(program, drain=False)
                    for path, elsewhere in held_back.items():
                        elsewhere.rename(path)
                reports += session.run_once(program, drain=True)
                fates = sort_out(history, clocks(plan))
                assert_same_rows(session.rows("result"), evaluate(plan, fates[Fate.USED].tables()))
                check_accounts(reports, fates)

    check()


def in_few_batches(history: History, most: int = 4) -> History:
    """The same rows in the same order with fewer borders: a micro-batch of Spark takes a third of a second."""
    length = -(-len(history.batches) // most)
    groups = [history.batches[start : start + length] for start in range(0, len(history.batches), length)]
    return History(
        tuple({name: [row for batch in group for row in batch[name]] for name in group[0]} for group in groups)
    )


def hold_back(folders: Iterable[Path], stop: int) -> dict[Path, Path]:
    """Moves the files of the micro-batches from `stop` on out of sight; returns where each is now."""
    held = {path: path.with_name(f"_{path.name}") for each in folders for path in sorted(each.iterdir())[stop:]}
    for path, elsewhere in held.items():
        path.rename(elsewhere)
    return held


def check_accounts(reports: list[QueryReport], fates: dict[Fate, History]) -> None:
    """In = rejected + late + filtered + used for each input, and late and rejected are those of the law."""
    for name in fates[Fate.USED].batches[0]:
        inputs = [each for report in reports for each in report.inputs if each.name == name]
        for each in inputs:
            assert each.read == each.rejected + each.late + each.filtered + each.used
        assert sum(each.read for each in inputs) == sum(len(fate.tables()[name]) for fate in fates.values())
        assert sum(each.late for each in inputs) == len(fates[Fate.LATE].tables()[name])
        assert sum(each.rejected for each in inputs) == len(fates[Fate.REJECTED].tables()[name])
