"""Tables through Spark: what was sent comes to the relational answer, after every micro-batch and at the end.

Several histories go through each query at once, with keys of their own. Each query is killed once in the midst of a
micro-batch, which is run again, and stopped and resumed once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pyspark.sql import DataFrame, SparkSession

import penstock
from penstock.codegen.program import DELETE, INSERT, UPDATE, SparkQuery
from penstock.planner.plan import Intermediate, KTable, Node, RunningQuery, Scan
from penstock.runtime import RunError, Session, session
from penstock.runtime.sinks import FilesSink, MemorySink
from tests.model.evaluate import evaluate, walk
from tests.model.history import History, Tables, write_json_lines
from tests.model.rows import difference
from tests.properties import tables
from tests.properties.streams import tried
from tests.properties.test_spark import AT_ONCE, hold_back

pytestmark = pytest.mark.spark
QUERIES = 2
PACKED = int(os.environ.get("PENSTOCK_HISTORIES", "12"))
"""Histories that go through each query."""
BATCHES = 4
KINDS: dict[str, SearchStrategy[str]] = {
    "filtered tables": tables.stateless,
    "groups of tables": tables.groupings(),
    **{f"{kind} join of tables": tables.joins((kind,), 4) for kind in ("INNER", "LEFT", "RIGHT", "FULL")},
}


class Killed(Exception):
    """In the midst of a micro-batch."""


class Followed(MemorySink):
    """A memory sink that checks each change against the row that it is about, and remembers the table of each batch."""

    def __init__(self, query: SparkQuery) -> None:
        super().__init__(query)
        self.operation, self.key = query.operation, query.key
        self.tables: dict[int, list[dict[str, Any]]] = {}
        self.wrong: list[str] = []

    def put(self, batch: pa.Table, number: int) -> None:
        if number not in self.tables and self.operation is not None:
            self.check(batch.to_pylist(maps_as_pydicts="strict"))
        super().put(batch, number)
        self.tables[number] = [dict(row) for row in self.rows()]

    def check(self, changes: list[dict[str, Any]]) -> None:
        held = {repr([row[name] for name in self.key]): row for row in self.rows()}
        keys = [repr([row[name] for name in self.key]) for row in changes]
        if len(set(keys)) < len(keys):
            self.wrong.append(f"two changes of one key: {changes}")
        operations = {key: row[str(self.operation)] for key, row in zip(keys, changes, strict=True)}
        for key, row in zip(keys, changes, strict=True):
            shown = {name: value for name, value in row.items() if name != self.operation}
            right = {
                INSERT: key not in held,
                UPDATE: key in held and held[key] != shown,
                DELETE: key in held and held[key] == shown,
            }
            if not right[operations[key]]:
                self.wrong.append(f"{row} changes {held.get(key)}")


def once(failing: set[str], name: str) -> None:
    """Fails the first time that it is called for a name."""
    if name not in failing:
        failing.add(name)
        raise Killed(name)


@pytest.fixture
def killing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each query dies in its second micro-batch: before its sink has it, or, in a changelog, when that is written."""
    failed: set[str] = set()
    put, put_files = Followed.put, FilesSink.put

    def lost(sink: Followed, batch: pa.Table, number: int) -> None:
        if number == 1:
            once(failed, str(id(sink)))
        put(sink, batch, number)

    def lost_files(sink: FilesSink, batch: DataFrame, number: int) -> None:
        put_files(sink, batch, number)
        if number == 1:
            once(failed, sink.path)

    monkeypatch.setattr(Followed, "put", lost)
    monkeypatch.setattr(FilesSink, "put", lost_files)
    monkeypatch.setattr(session, "MemorySink", Followed)


def packed(draw: Callable[[SearchStrategy[Any]], Any], names: tuple[str, ...], number: int) -> History:
    """Several histories side by side, each with keys and groups of its own, in a few micro-batches."""
    batches: list[Tables] = [{name: [] for name in names} for _ in range(BATCHES)]
    for prefix in range(number):
        history = draw(tables.histories(names))
        for place, batch in enumerate(history.batches):
            into = batches[place * BATCHES // len(history.batches)]
            for name, rows in batch.items():
                into[name] += [renamed(row, prefix) for row in rows]
    return History(tuple(batches))


def renamed(row: dict[str, Any], prefix: int) -> dict[str, Any]:
    names = {name: None if row[name] is None else f"{row[name]}{prefix}" for name in ("id", "g")}
    return {**row, **names}


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
    stores = ("memory", "rocksdb")

    def outcome(place: int) -> str:
        sql, history = drawn[place]
        found = "\n".join(
            filter(None, wrong(sql, history, tmp_path / str(place), only_spark.newSession(), stores[place % 2]))
        )
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
    with Session(spark, checkpoint=str(folder / "checkpoint")) as running:
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
        if not any(isinstance(node, Intermediate) for node in walk(plan)):
            for number, rows in sink.tables.items():
                yield difference(rows, answer(plan, history, number + 1))


def until_done(run: Callable[[], object]) -> None:
    """Runs again what was killed."""
    for _ in range(5):
        try:
            run()
        except RunError as error:
            if "Killed" not in str(error):
                raise
        else:
            return
    raise AssertionError("killed too often")


def differs(running: Session, plan: Node, history: History, batches: int) -> Iterator[str]:
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
