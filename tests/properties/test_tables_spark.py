"""Tables through Spark: what was sent comes to the relational answer, after every micro-batch and at the end.

Several histories go through each query at once, with keys of their own. Each query is killed once in the midst of a
micro-batch, which is run again, and stopped and resumed once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pyspark.sql import SparkSession

import penstock
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import History
from penstock.planner.plan import KTable, Node, RunningQuery, Scan
from penstock.planner.plan.walk import walk
from penstock.runtime import RuntimeSession
from tests.jvm.sessions import open_session
from tests.model.arrivals import write_json_lines
from tests.model.rows import difference
from tests.properties import tables
from tests.properties.killed import BATCHES, PACKED, Followed, packed, until_done
from tests.properties.streams import tried
from tests.properties.test_spark import AT_ONCE, hold_back

pytestmark = [pytest.mark.spark, pytest.mark.draws]
QUERIES = int(os.environ.get("PENSTOCK_TABLE_QUERIES", "1"))
"""Different queries of each kind."""
STORES = ("memory", "rocksdb")
KINDS: dict[str, SearchStrategy[str]] = {
    "filtered tables": tables.stateless,
    "groups of tables": tables.groupings(),
    "lists of tables": tables.lists(),
    **{f"{kind} join of tables": tables.joins((kind,), 4) for kind in ("INNER", "LEFT", "RIGHT", "FULL")},
    **{f"{kind} join on a foreign key": tables.foreign(kind) for kind in ("INNER", "LEFT")},
    "groups and joins of what is computed": tables.together,
    "subqueries over tables": tables.memberships,
    "outer joins on a foreign key": tables.outer,
    "ranks of tables": tables.ranks,
    "united tables": tables.united,
    "subqueries without keys": tables.without_keys,
    "sets of tables": tables.sets,
}


def examples(kind: str) -> list[tuple[str, History]]:
    """Queries, each with a packed history: of those that Hypothesis draws, different ones with many records."""
    drawn: list[tuple[str, History]] = []

    @settings(max_examples=8, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
    @given(KINDS[kind], st.data())
    def draw(sql: str, data: st.DataObject) -> None:
        drawn.append((sql, packed(data.draw, names_of(compiled(sql, "", 0).root), PACKED)))

    draw()
    fullest = dict(sorted(drawn, key=lambda each: each[1].size()))
    return list(fullest.items())[-QUERIES:]


def names_of(plan: Node) -> tuple[str, ...]:
    return tuple(sorted({node.origin.name for node in walk(plan) if isinstance(node, Scan)}))


def script(sql: str, folder: str, files_per_batch: int) -> str:
    return tables.declared(folder, files_per_batch) + f"SET state_partitions = 2; CREATE TABLE result AS {sql}"


def compiled(sql: str, folder: str, files_per_batch: int) -> RunningQuery:
    (query,) = penstock.compile(script(sql, folder, files_per_batch)).queries
    return query


@pytest.mark.parametrize("kind", KINDS)
def test_spark_comes_to_the_relational_answer(
    kind: str, only_spark: SparkSession, tmp_path: Path, killing: None
) -> None:
    drawn = examples(kind)
    assert len(drawn) == QUERIES
    first = [*KINDS].index(kind)

    def outcome(place: int) -> str:
        sql, history = drawn[place]
        folder, spark = tmp_path / str(place), open_session(only_spark, first + place)
        found = "\n".join(filter(None, wrong(sql, history, folder, spark, STORES[(first + place) % 2])))
        return f"{sql}\n{history}\n{found}" if found else ""

    with ThreadPoolExecutor(AT_ONCE) as pool:
        failures = list(filter(None, pool.map(outcome, range(len(drawn)))))
    tried[f"{kind} through Spark"] += len(drawn) * PACKED
    assert not failures, "\n\n".join(failures)


def wrong(sql: str, history: History, folder: Path, spark: SparkSession, store: str) -> Iterator[str]:
    """How what Spark sends differs from the answer."""
    folders = write_json_lines(history, folder)
    program = penstock.compile(f"SET state_store = '{store}';" + script(sql, str(folder), 1)).program
    plan = compiled(sql, str(folder), 1).root
    with RuntimeSession(spark, checkpoint=str(folder / "checkpoint")) as running:
        held_back = hold_back(folders.values(), BATCHES - 1)
        until_done(lambda: running.run_once(program, drain=False))
        yield from differs(running, plan, history, BATCHES - 1)
        for path, elsewhere in held_back.items():
            elsewhere.rename(path)
        until_done(lambda: running.run_once(program, drain=False))
        yield from differs(running, plan, history, BATCHES)
        sink = running._memory["result", "result"][1]
        assert isinstance(sink, Followed)
        yield from sink.wrong
        if len(program.queries) == 1:
            for number, rows in sink.tables.items():
                yield difference(rows, answer(plan, history, number + 1))


def differs(running: RuntimeSession, plan: Node, history: History, batches: int) -> Iterator[str]:
    found = difference(running.rows("result"), answer(plan, history, batches))
    if found:
        yield f"after {batches} micro-batches:\n{found}"


def answer(plan: Node, history: History, batches: int) -> list[dict[str, Any]]:
    """The relational answer over the first micro-batches. The one group of a whole table comes with its first row."""
    seen = History(history.batches[:batches]).tables()
    expected = evaluate(plan, seen)
    nothing = evaluate(plan, {name: [] for name in seen})
    whole = isinstance(plan.shape, KTable) and not plan.shape.key
    return [row for row in expected if row not in nothing] if whole else expected
