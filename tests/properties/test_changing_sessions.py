"""Sessions that are sent as they change, without Spark: the changes come to the sessions of all rows so far.

Micro-batches are made up as Spark packs them for one bucket. Rows that are late by law are left out, and the watermark
is that of the law. A worker keeps the sessions that can still change, and no others.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.codegen import lower
from penstock.codegen.program import SessionView
from penstock.evaluator.changes import ChangeRun
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.held import Change, Key
from penstock.evaluator.history import History, Tables, accepted, clocks, watermarks
from penstock.evaluator.row_groups import window_aggregate
from penstock.evaluator.typed_values import EPOCH, Row, milliseconds
from penstock.kit.worker.bucket_sessions import merge_sessions
from penstock.kit.worker.pack import read_table, write_table
from penstock.planner.plan import Emission, Node, RunningQuery, SessionWindow, Sink, WindowAggregate
from tests.model import plans
from tests.model.plans import NOWHERE
from tests.model.rows import assert_same_rows
from tests.properties import streams
from tests.properties.streams import SECOND
from tests.properties.test_tables import compare, put

pytestmark = pytest.mark.draws
HISTORIES = int(os.environ.get("PENSTOCK_HISTORIES", "15"))


@settings(max_examples=HISTORIES * 4, deadline=None)
@given(streams.changing_sessions(), st.data())
def test_changes_of_sessions_come_to_the_answer(case: tuple[WindowAggregate, History], data: st.DataObject) -> None:
    plan, history = case
    streams.tried["changing sessions"] += 1
    query, held, seen = ChangeRun(plan), dict[Key, Row](), dict[str, list[Row]]()
    for batch in accepted(history, clocks(plan)).batches:
        if data.draw(st.integers(0, 5)) == 0:  # killed in the midst of a micro-batch: it is run again from its start
            copy.deepcopy(query).step(batch)
        put(held, query.step(batch), plan)
        seen = {name: seen.get(name, []) + rows for name, rows in batch.items()}
        compare(plan, held, seen)


AGGREGATES = plans.standard_aggregates()[:1], (plans.standard_aggregates()[0], *plans.standard_aggregates()[6:7])
"""COUNT(*), for which no values are kept, and MIN(v) beside it."""
TYPES = {
    **{"total": pa.bool_(), "count": pa.int64(), "_count0": pa.int64(), "k0": pa.string(), "v0": pa.int64()},
    **dict.fromkeys(("start", "end"), pa.timestamp("us", "UTC")),
}
CONNECTIONS: list[Any] = []
"""The DuckDB that all buckets share, as those of a task do."""


@dataclass(slots=True)
class State:
    """Spark's state of a bucket, and the watermark in force."""

    watermark: datetime = EPOCH
    tables: tuple[bytes, ...] = ()
    timeout: int | None = None

    @property
    def exists(self) -> bool:
        return bool(self.tables)

    @property
    def get(self) -> tuple[bytes, ...]:
        return self.tables

    def getCurrentWatermarkMs(self) -> int:
        return (self.watermark - EPOCH) // milliseconds(1)

    def update(self, tables: tuple[bytes, ...]) -> None:
        self.tables = tables

    def remove(self) -> None:
        self.tables, self.timeout = (), None

    def setTimeoutTimestamp(self, timeout: int) -> None:
        # Spark refuses one that has passed.
        assert timeout >= self.getCurrentWatermarkMs()
        self.timeout = timeout


@dataclass(slots=True)
class Bucket:
    """The view of a query, of which all keys are in one bucket."""

    plan: WindowAggregate
    state: State = field(default_factory=State)
    view: SessionView = field(init=False)
    """What the query does with its buckets."""

    def __post_init__(self) -> None:
        key = (*(each.name for each in self.plan.keys), "window_start", "window_end")
        query = RunningQuery("result", self.plan, Sink("result", "memory", ()), Emission.CHANGES, key, NOWHERE)
        views = [view for each in lower([query]).queries for view in each.views]
        (self.view,) = (each for each in views if isinstance(each, SessionView))

    def step(self, rows: Sequence[Row], watermark: datetime) -> list[Change]:
        """What a micro-batch gives. Without rows the bucket is only called when its timeout has passed."""
        self.state.watermark = watermark
        if not rows and (self.state.timeout is None or self.state.timeout >= self.state.getCurrentWatermarkMs()):
            return []
        view = self.view
        names = dict.fromkeys((*view.given, *view.kept))
        key = pa.struct({"k0": pa.string()})
        table = pa.table({each: pa.array(self.values(each, rows), TYPES.get(each, key)) for each in names})
        facts: dict[str, Any] = {"merge": view.merge, "sql": view.sql, "given": view.given, "kept": view.kept}
        arrived = [write_table(table)] if rows else []
        found = merge_sessions(arrived, self.state, CONNECTIONS, **facts, picked=dict(view.picked))
        return [change(row) for each in found for row in read_table(each).to_pylist()]

    def values(self, name: str, rows: Iterable[Row]) -> list[Any]:
        """A field of the rows, as Spark packs it."""
        assert isinstance(self.plan.window, SessionWindow)
        gap = milliseconds(self.plan.window.gap)
        of: dict[str, Callable[[Row], Any]] = {
            **{"total": lambda row: False, "count": lambda row: 1, "_count0": lambda row: 1},
            **{"start": lambda row: row["time"], "end": lambda row: row["time"] + gap},
            **{"k0": lambda row: row["k"], "key": lambda row: {"k0": row["k"]}, "v0": lambda row: row["v"]},
        }
        return [of[name](row) for row in rows]

    def open_sessions(self) -> set[Key]:
        """The sessions of the state, each with the number of its rows."""
        rows = [row for each in self.state.tables for row in read_table(each).to_pylist()]
        counts = {named(row, row["count"]) for row in rows if row["total"]}
        values = [row for row in rows if not row["total"]]
        assert not values or {each[:3] for each in counts} == {named(row, 0)[:3] for row in values}
        return counts


def named(row: Row, count: int) -> Key:
    return row["k0"], row["start"].replace(tzinfo=None), row["end"].replace(tzinfo=None), count


def change(row: Row) -> Change:
    """The rows before and after of a session."""
    key = (row["key"]["k0"], *(datetime.fromtimestamp(row[each] / 1e6, UTC).replace(tzinfo=None) for each in ENDS))
    sides = []
    for side in ("_before", "_after"):
        known = {"n": row[f"{side}_count0"]} | ({"least": row[f"{side}r0"]} if f"{side}r0" in row else {})
        shown = {"k": key[0], "window_start": key[1], "window_end": key[2], **known}
        sides.append(None if row[f"{side}count"] is None else shown)
    return Change(key, *sides)


ENDS = ("start", "end")


def sessions(rows: Tables, plan: WindowAggregate, watermark: datetime) -> set[Key]:
    """The sessions that a row which is not late can still extend, with the numbers of their rows."""
    found = evaluate(plan, rows)
    return {
        (row["k"], row["window_start"], row["window_end"], row["n"]) for row in found if row["window_end"] >= watermark
    }


def rows_at(*seconds: int) -> list[Row]:
    return [
        {"id": each, "k": "a", "v": each, "price": None, "time": EPOCH + milliseconds(each * SECOND)}
        for each in seconds
    ]


def test_sessions_become_one() -> None:
    """A row exactly a gap behind another one belongs to its session."""
    scan: Node = streams.stream("a", 60)
    plan = plans.window_aggregate(scan, SessionWindow(5 * SECOND), AGGREGATES[1], emission=Emission.CHANGES)
    bucket, watermark = Bucket(plan), EPOCH

    def step(*seconds: int) -> list[tuple[int, int, Any, Any]]:
        found = bucket.step(rows_at(*seconds), watermark)
        times = [((each.key[1] - EPOCH).seconds, (each.key[2] - EPOCH).seconds) for each in found]
        shown = [
            tuple(None if row is None else (row["n"], row["least"]) for row in (each.old, each.new)) for each in found
        ]
        return sorted((*time, *row) for time, row in zip(times, shown, strict=True))

    assert step(10, 20, 30) == [(10, 15, None, (1, 10)), (20, 25, None, (1, 20)), (30, 35, None, (1, 30))]
    assert step(25) == [(20, 25, (1, 20), None), (20, 35, None, (3, 20)), (30, 35, (1, 30), None)]
    assert step(22) == [(20, 35, (3, 20), (4, 20))]
    assert step(50, 60) == [(50, 55, None, (1, 50)), (60, 65, None, (1, 60))]
    assert step(15, 40) == [
        *((10, 15, (1, 10), None), (10, 35, None, (6, 10)), (20, 35, (4, 20), None), (40, 45, None, (1, 40))),
    ]
    assert step(35, 45, 55) == [
        *((10, 35, (6, 10), None), (10, 65, None, (12, 10))),
        *((40, 45, (1, 40), None), (50, 55, (1, 50), None), (60, 65, (1, 60), None)),
    ]


@settings(max_examples=HISTORIES * 2, deadline=None)
@given(st.integers(1, 4), st.integers(0, 4), st.sampled_from(AGGREGATES), st.data())
def test_a_bucket_keeps_the_sessions_that_can_change(
    gap: int, delay: int, aggregates: tuple[Any, ...], data: st.DataObject
) -> None:
    scan: Node = streams.stream("a", delay)
    plan = plans.window_aggregate(scan, SessionWindow(gap * SECOND), aggregates, emission=Emission.CHANGES)
    history = data.draw(streams.histories({"a": delay}, max_rows=20))
    streams.tried["buckets of sessions"] += 1
    bucket, held, seen = Bucket(plan), dict[Key, Row](), list[Row]()
    in_force = watermarks(history, clocks(plan))
    for batch, watermark in zip(accepted(history, clocks(plan)).batches, in_force, strict=False):
        changes = bucket.step(batch["a"], watermark)
        # Two counts that are equal are no change to the plan; here sessions that rows have come for are told.
        put(held, [each for each in changes if each.old != each.new], plan)
        seen += batch["a"]
        assert_same_rows(held.values(), window_aggregate(plan, seen))
        assert bucket.open_sessions() == sessions({"a": seen}, plan, watermark)
    bucket.step([], datetime(9999, 1, 1))
    assert not bucket.state.exists
