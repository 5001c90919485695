"""What buckets keep of windowed tables, without Spark: windows are let go, and what leaves a result is what has come.

Micro-batches are made up as Spark packs them for one bucket, with a watermark that rises as the windows do.
"""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import penstock
from penstock.codegen.program import LookupView
from penstock.kit.worker.bucket_lookup import look_up_rows
from penstock.kit.worker.pack import read_table, write_table

pytestmark = pytest.mark.draws
HISTORIES = int(os.environ.get("PENSTOCK_HISTORIES", "15"))
KEPT = 3
"""The seconds for which a window is kept behind its end; windows are a second long, and so begin KEPT + 1 before."""
SCRIPT = """
CREATE STREAM r (id STRING KEY, v BIGINT, time TIMESTAMP, WATERMARK FOR time AS time)
WITH (connector = 'files', path = 'r', format = 'json');
CREATE TABLE t (id STRING PRIMARY KEY, g STRING, at TIMESTAMP) WITH (connector = 'files', path = 't', format = 'json');
CREATE VIEW w AS SELECT id, SUM(v) AS v FROM r GROUP BY id, TUMBLE(time, 1 SEC) RETENTION 3 SEC;
"""
STREAM = "SELECT STREAM r.v, w.v AS n FROM r LEFT JOIN w ON r.id = w.id AND w.window_start = r.time"
TABLE = "SELECT t.id, w.v FROM t LEFT JOIN w ON t.g = w.id AND t.at = w.window_start"
WINDOWS = "SELECT w.id, w.v, t.g FROM w LEFT JOIN t ON w.id = t.id"
TIME = pa.timestamp("us", "UTC")
TYPES: dict[str, pa.DataType] = {
    **{"is_left": pa.bool_(), "deleted": pa.bool_(), "order": pa.int64(), "version": pa.int64()},
    **{"k0": pa.string(), "k1": TIME, "i0": pa.string(), "i1": TIME, "i2": TIME, "until": TIME, "now": TIME},
    **dict.fromkeys(("left", "right"), pa.struct({"v": pa.string()})),
}
Fields = dict[str, Any]


@functools.cache
def view_of(sql: str) -> LookupView:
    """What a query does with its buckets."""
    views = [each for query in penstock.compile(SCRIPT + sql).program.queries for each in query.views]
    (view,) = (each for each in views if isinstance(each, LookupView))
    return view


@dataclass(slots=True)
class State:
    """Spark's state of a bucket."""

    tables: tuple[bytes, ...] = ()

    @property
    def exists(self) -> bool:
        return bool(self.tables)

    @property
    def get(self) -> tuple[bytes, ...]:
        return self.tables

    def update(self, tables: tuple[bytes, ...]) -> None:
        self.tables = tables

    def rows(self) -> list[Fields]:
        return [row for table in self.tables for row in read_table(table).to_pylist()]


@dataclass(slots=True)
class Bucket:
    """The LookupView of a query, of which all rows are in one bucket."""

    sql: str
    state: State = field(default_factory=State)
    connections: list[Any] = field(default_factory=list)

    def step(self, rows: Sequence[Fields]) -> list[Fields]:
        """What a micro-batch gives; times are in seconds."""
        view = view_of(self.sql)
        columns: dict[str, pa.Array] = {}
        for name in (*view.given, "left", "right"):
            values = [row.get(name) for row in rows]
            if TYPES[name] == TIME:
                values = [None if each is None else each * 1_000_000 for each in values]
            columns[name] = pa.array(values, TYPES[name])
        table = pa.table(columns)
        facts: dict[str, Any] = {"newest": view.newest, "sql": view.sql, "given": view.given, "kept": view.kept}
        found = look_up_rows([write_table(table)], self.state, self.connections, **facts, picked=dict(view.picked))
        return [row for each in found for row in read_table(each).to_pylist()]


Window = tuple[str, int]


@dataclass(slots=True)
class Batch:
    """A micro-batch: the watermark, the windows' rows that come, rows of the other side by key."""

    now: int
    windows: dict[Window, str]
    others: dict[str, tuple[Window, str] | None]


@st.composite
def batches(draw: st.DrawFn) -> list[Batch]:
    """Windows that can still change come, those of other keys are let go; a row of the other side is None: deleted."""
    now, known, found = 0, list[Window](), list[Batch]()
    keys, texts = st.sampled_from("aaab"), st.text("xyz", min_size=1, max_size=2)
    for _ in range(draw(st.integers(3, 8))):
        starts = st.integers(now, now + 1)
        windows = draw(st.dictionaries(st.tuples(keys, starts), texts, max_size=2))
        known = sorted({*known, *windows})[-4:]
        # Mostly to a window that there is.
        refers = st.sampled_from([*known, *known, ("a", now), ("b", now + 1)])
        others = draw(st.dictionaries(st.sampled_from("pq"), st.none() | st.tuples(refers, texts), max_size=3))
        found.append(Batch(now, windows, others))
        now += draw(st.sampled_from((0, 1, 2, 5)))
    return found


def name(window: Window) -> str:
    return f"{window[0]}{window[1]}"


def window_rows(batch: Batch, number: int, *, is_left: bool) -> Iterator[Fields]:
    for (key, start), text in batch.windows.items():
        known = {"is_left": is_left, "deleted": False, "until": start + 1 + KEPT, "now": batch.now, "k0": key}
        if is_left:
            shown = {"v": f"{name((key, start))} {text}"}
            yield known | {"i0": key, "i1": start, "i2": start + 1, "version": number, "left": shown}
        else:
            yield known | {"k1": start, "order": number, "right": {"v": text}}


def pair(row: Fields) -> tuple[str, str | None]:
    """What is shown of both sides."""
    return row["left"]["v"], None if row["right"] is None else row["right"]["v"]


def is_kept(window: Window, now: int) -> bool:
    return window[1] + 1 + KEPT >= now


@settings(max_examples=HISTORIES, deadline=None)
@given(batches())
def test_rows_of_a_stream_find_windows_that_are_kept(history: list[Batch]) -> None:
    bucket, windows = Bucket(STREAM), dict[Window, str]()
    for number, batch in enumerate(history):
        rows = [*window_rows(batch, number, is_left=False)]
        windows = {each: text for each, text in (windows | batch.windows).items() if is_kept(each, batch.now)}
        expected = Counter[tuple[str, str | None]]()
        for refers, text in filter(None, batch.others.values()):
            row: Fields = {"is_left": True, "k0": refers[0], "k1": refers[1], "deleted": False}
            rows.append(row | {"now": batch.now, "left": {"v": text}})
            expected[text, windows.get(refers)] += 1
        if rows:
            assert Counter(map(pair, bucket.step(rows))) == expected
            assert len(bucket.state.rows()) == len(windows)


# Of two rows that refer to one window the second comes when it has been let go.
LATER = [Batch(0, {("a", 0): "x"}, {"p": (("a", 0), "x")}), Batch(6, {}, {"q": (("a", 0), "y")})]


@settings(max_examples=HISTORIES, deadline=None)
@example([*LATER, Batch(6, {}, {"p": None}), Batch(6, {}, {"q": None})])
@given(batches())
def test_rows_of_a_table_show_windows_until_they_change(history: list[Batch]) -> None:
    bucket, windows = Bucket(TABLE), dict[Window, str]()
    table: dict[str, tuple[Window, str, int]] = {}
    sent = Counter[tuple[str, str | None]]()
    for number, batch in enumerate(history):
        rows = [*window_rows(batch, number, is_left=False)]
        windows |= batch.windows
        for key, row in batch.others.items():
            for place, each in enumerate((table.pop(key, None), None if row is None else (*row, batch.now))):
                if each is not None:
                    (k0, k1), text, _ = each
                    known = {"is_left": True, "k0": k0, "k1": k1, "i0": key, "now": batch.now, "left": {"v": text}}
                    rows.append(known | {"version": 2 * number + place, "deleted": place == 0})
            if row is not None:
                table[key] = (*row, batch.now)
        shown = {key: windows.get(refers) if is_kept(refers, now) else None for key, (refers, _, now) in table.items()}
        for moved in bucket.step(rows) if rows else ():
            sent[pair(moved)] += moved["_delta"]
        assert sent == Counter((text, shown[key]) for key, (_, text, _) in table.items())
        if rows:
            kept = {each for each in windows if is_kept(each, batch.now)}
            kept |= {refers for key, (refers, _, _) in table.items() if shown[key] is not None}
            assert len(bucket.state.rows()) == len(kept) + len(table)


@settings(max_examples=HISTORIES, deadline=None)
@given(batches())
def test_windows_follow_a_table_until_they_are_let_go(history: list[Batch]) -> None:
    bucket, windows = Bucket(WINDOWS), dict[Window, str]()
    table: dict[str, str] = {}
    sent: dict[str, str | None] = {}
    expected: dict[str, str | None] = {}
    for number, batch in enumerate(history):
        rows = [*window_rows(batch, number, is_left=True)]
        windows = {each: text for each, text in (windows | batch.windows).items() if is_kept(each, batch.now)}
        for key, row in zip("ab", batch.others.values(), strict=False):
            table.pop(key, None)
            if row is not None:
                table[key] = row[1]
            known = {"is_left": False, "k0": key, "now": batch.now, "deleted": row is None, "order": number}
            rows.append(known | {"right": {"v": table.get(key)}})
        for come in bucket.step(rows) if rows else ():
            assert come["_delta"] == 1
            sent[come["left"]["v"].split()[0]] = f"{pair(come)}"
        expected |= {name(each): f"{(f'{name(each)} {text}', table.get(each[0]))}" for each, text in windows.items()}
        assert sent == expected
        if rows:
            assert sum(row["is_left"] for row in bucket.state.rows()) == len(windows)
