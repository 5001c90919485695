"""Which inputs are idle, and what they are told. No JVM: only what queries report of the rows that they find."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from penstock.codegen.program import SparkQuery, WatermarkInput
from penstock.compilation import compile
from penstock.runtime.progress.heartbeats import Heartbeats, Observation, group_connected, now
from penstock.runtime.progress.idle import InputPace, plan_heartbeats, plan_stream_heartbeats
from penstock.runtime.query.drain import EPOCH

DECLARED = (
    "CREATE STREAM {} (k STRING, t TIMESTAMP, WATERMARK FOR t AS t - INTERVAL '10' SECOND {}) "
    "WITH (connector = 'files', path = '{}', format = 'json');"
)
MINUTE = 60_000


def test_an_idle_input_is_told_the_least_of_the_others() -> None:
    paces = {
        "a": InputPace(None, spoke=0, looked=90, reached=500),
        "b": InputPace(60, spoke=20, looked=90, reached=300),
        "c": InputPace(60, spoke=40, looked=90, reached=400),
        "d": InputPace(60, spoke=0, looked=90),
    }
    assert plan_heartbeats(paces) == {"b": 400, "d": 400}
    paces["c"] = replace(paces["c"], spoke=30)
    assert plan_heartbeats(paces) == {"b": 500, "c": 500, "d": 500}
    paces["a"] = replace(paces["a"], reached=None)
    assert plan_heartbeats(paces) == {}
    assert plan_heartbeats({key: paces[key] for key in "bcd"}) == {}


@dataclass
class Files:
    """Stands for the storage: knows what was told to whom."""

    told: dict[str, dict[str, Any]] = field(default_factory=dict)
    there: set[str] = field(default_factory=set)

    def publish(self, path: str, text: str) -> None:
        self.told[path] = json.loads(text)
        self.there.add(path)

    def delete(self, path: str) -> None:
        self.there.remove(path)

    def newest(self, query: str, input_: str) -> int:
        """The newest event time that the input was told, 0 if it was told none."""
        told = (row for path, row in self.told.items() if path.startswith(f"{query}/end/") and row["input"] == input_)
        times = (datetime.fromisoformat(row["time"]) - EPOCH for row in told)
        return max((time // timedelta(milliseconds=1) for time in times), default=0)


@dataclass(frozen=True)
class Found:
    """A query looks for rows, so many milliseconds after the look before, and finds newest event times, by input."""

    query: int
    after: int
    found: dict[int, int]


QUERIES = [((5, None), (0, 100)), ((20, 250), (0, 100))]
"""Of two queries that depend on each other: the delay and the IDLE AFTER of their inputs."""
LOOKS = st.builds(
    Found, st.integers(0, 1), st.integers(1, 120), st.dictionaries(st.integers(0, 1), st.integers(0, 1000))
)


def watermarks(looks: Sequence[Found]) -> list[int]:
    """By the book: the watermark never falls; it is the least of those of the inputs which are not idle."""
    history, clock, watermark = [], 0, 0
    for number, look in enumerate(looks):
        clock += look.after
        times = [0, 0]
        spoke = {(q, i): 0 for q in (0, 1) for i in (0, 1)}
        reached: dict[tuple[int, int], int] = {}
        past = 0
        for each in looks[: number + 1]:
            past += each.after
            times[each.query] = past
            for i, newest in each.found.items():
                key = each.query, i
                spoke[key] = past
                reached[key] = max(reached.get(key, -1000), newest - QUERIES[each.query][i][0])
        awake = [
            (q, i)
            for q, inputs in enumerate(QUERIES)
            for i, (_, idle) in enumerate(inputs)
            if idle is None or times[q] - spoke[q, i] < idle
        ]
        watermark = max([watermark, *([min(reached.get(key, -1000) for key in awake)] if awake else [])])
        history.append(watermark)
    return history


@given(st.lists(LOOKS, max_size=25))
def test_histories(looks: list[Found]) -> None:
    files = Files()
    heartbeats = Heartbeats(cast("Any", files))
    started = 10**15  # later than any clock: what was written before a look has been read
    queries = []
    for q, inputs in enumerate(QUERIES):
        watermark_inputs = tuple(
            WatermarkInput(f"i{i}", f"v{i}", delay, idle, None) for i, (delay, idle) in enumerate(inputs)
        )
        queries.append(replace(LOWERED, name=f"q{q}", watermark_inputs=watermark_inputs, takes_heartbeats=True))
        heartbeats.add(queries[-1], f"q{q}", started)
    newest = dict.fromkeys([(q, i) for q in (0, 1) for i in (0, 1)], 0)
    clock = started
    for look, expected in zip(looks, watermarks(looks), strict=True):
        clock += look.after
        for i, found in look.found.items():
            newest[look.query, i] = max(newest[look.query, i], found)
        heartbeats.observe(f"q{look.query}", Observation(clock, {f"v{i}": found for i, found in look.found.items()}))
        seen = (max(newest[q, i], files.newest(f"q{q}", f"i{i}")) - QUERIES[q][i][0] for q in (0, 1) for i in (0, 1))
        assert max(0, min(seen)) == expected
    for name in ("q0", "q1", "q0", "q1"):
        times = len(files.told)
        heartbeats.observe(name, Observation(clock))
    assert len(files.told) == times, "nothing has changed, and an input is told again"
    assert not files.there
    for q in (0, 1):
        heartbeats.end(f"q{q}")
        heartbeats.observe(f"q{q}", Observation(clock + 10_000, {"v0": 10**6, "v1": 10**6}))
    assert len(files.told) == times


def test_an_intermediate_stream_passes_on_what_moves_its_reader() -> None:
    assert plan_stream_heartbeats({"a": 7, "b": None, "c": 3}, {"b": 5, "c": 6}) == {"b": 5, "c": 5}
    assert plan_stream_heartbeats({"a": 7, "b": None, "c": 3}, {"b": 2, "c": 6}) == {"b": 2}
    assert plan_stream_heartbeats({"a": None, "b": 1}, {"b": 9}) == {}
    assert plan_stream_heartbeats({"b": 3}, {"b": 9}) == {"b": 9}
    assert plan_stream_heartbeats({"b": 9}, {"b": 3}) == {}


def test_a_reader_is_told_when_it_has_read_what_was_written() -> None:
    files = Files()
    heartbeats = Heartbeats(cast("Any", files))
    writer = replace(LOWERED, name="writer", watermark_inputs=())
    stream = WatermarkInput("writer", "v", delay=20, idle=None, lag=50)
    reader = replace(LOWERED, name="reader", watermark_inputs=(stream,), takes_heartbeats=True)
    heartbeats.add(writer, "writer", now())
    heartbeats.add(reader, "reader", now())
    minute = 60_000
    heartbeats.observe("reader", Observation(now(), {"v": None}, watermark=0, holds=True))
    heartbeats.observe("writer", Observation(now(), watermark=1000, holds=True))
    heartbeats.observe("reader", Observation(now() - minute))
    assert files.newest("reader", "writer") == 0, "the reader may have rows to read"
    heartbeats.observe("reader", Observation(now() + minute))
    assert files.newest("reader", "writer") == 1000 - 50 + 20
    heartbeats.observe("writer", Observation(now(), watermark=2000, holds=True))
    heartbeats.observe("reader", Observation(now() + minute))
    assert len(files.told) == 1, "each heartbeat is a micro-batch, and this one comes too soon"


def test_a_reader_without_state_is_not_told_unless_its_own_reader_waits() -> None:
    def told(*holds: bool) -> int:
        files = Files()
        heartbeats = Heartbeats(cast("Any", files))
        for number in range(3):
            watermark_inputs = (WatermarkInput(f"q{number - 1}", "v", 0, None, 0),) if number else ()
            query = replace(LOWERED, name=f"q{number}", watermark_inputs=watermark_inputs, takes_heartbeats=True)
            heartbeats.add(query, query.name, now())
        for number, each in enumerate(holds):
            heartbeats.observe(f"q{number}", Observation(now() - MINUTE, watermark=1000, holds=each))
        heartbeats.observe("q1", Observation(now() + MINUTE))
        return files.newest("q1", "q0")

    assert [told(True, False, False), told(False, False, True), told(False, True, False)] == [0, 1000, 1000]


def lowered(sql: str) -> tuple[SparkQuery, ...]:
    return compile(sql).program.queries


def union(idle: str) -> str:
    return (
        DECLARED.format("a", "", "a")
        + DECLARED.format("b", idle, "b")
        + "CREATE STREAM counts WITH (connector = 'console') AS SELECT STREAM window_start, COUNT(*) AS n FROM "
        "(SELECT STREAM * FROM a UNION ALL SELECT STREAM * FROM b) GROUP BY TUMBLE(t, 1 MINUTE);"
    )


LOWERED = lowered(union(""))[0]


def test_a_checkpoint_does_not_depend_on_what_is_idle() -> None:
    (before,), (after,), (later,) = map(lowered, (union(""), union("IDLE AFTER 1 MINUTE"), union("IDLE AFTER 5 MIN")))
    assert before.fingerprint == after.fingerprint == later.fingerprint
    assert [each.takes_heartbeats for each in (before, after, later)] == [False, True, True]
    assert [(each.name, each.idle) for each in after.watermark_inputs] == [("a", None), ("b", MINUTE)]


def test_queries_are_connected_by_what_they_read() -> None:
    sql = (
        DECLARED.format("a", "", "a")
        + DECLARED.format("b", "IDLE AFTER 1 MINUTE", "b")
        + "CREATE STREAM both WITH (connector = 'console') AS SELECT STREAM x.window_start, x.n, y.n AS m FROM "
        "(SELECT STREAM k, window_start, COUNT(*) AS n FROM a GROUP BY k, TUMBLE(t, 1 MINUTE)) x JOIN "
        "(SELECT STREAM k, window_start, COUNT(*) AS n FROM b GROUP BY k, TUMBLE(t, 1 MINUTE)) y "
        "ON x.k = y.k AND x.window_start = y.window_start;"
        "CREATE STREAM alone WITH (connector = 'console') AS SELECT STREAM window_start, COUNT(*) AS n FROM b "
        "GROUP BY TUMBLE(t, 1 MINUTE);"
    )
    queries = lowered(sql)
    assert [[each.name for each in group] for group in group_connected(queries)] == [
        ["both_intermediate1", "both_intermediate2", "both"],
        ["alone"],
    ]
    assert [[each.name for each in query.watermark_inputs] for query in queries] == [
        ["a"],
        ["b"],
        ["both_intermediate1", "both_intermediate2"],
        ["b"],
    ]
