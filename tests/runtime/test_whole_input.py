"""Runs that take the files that are there as all of the input: one start of the query, to the end of its windows."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.kit.clock_view import ClockTable
from penstock.runtime import InputAccount, RunError, RuntimeSession, Status
from penstock.runtime.query.run import Progress, Run
from penstock.runtime.query.triggers import Trigger
from penstock.runtime.query.whole_input import _fix_files
from tests.runtime.programs import Place, at

pytestmark = pytest.mark.spark

MINUTES = (0, 12, 25)
CLOSED = {0: 1, 10: 1, 20: 1}
READ = (InputAccount("orders", read=3, rejected=0, late=0, filtered=0, used=3),)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Three files, each with a row of another window, for a micro-batch each."""
    place = Place(tmp_path, (("format", "json"), ("files_per_batch", 1)))
    for number, minute in enumerate(MINUTES):
        place.put(f"f{number}", {"id": number, "v": number, "ts": at(minute)})
        time.sleep(0.05)  # the order of files is that of their modification times
    return place


def closed(session: RuntimeSession) -> dict[int, int]:
    """The minute at which each window starts, and its count."""
    begin = datetime.fromisoformat(at(0)).astimezone(UTC)
    rows = [(int((row["window_start"] - begin).total_seconds()) // 60, row["n"]) for row in session.rows("windows")]
    assert len(dict(rows)) == len(rows)
    return dict(rows)


def note_starts(monkeypatch: pytest.MonkeyPatch) -> list[Trigger]:
    """A list that grows with each start of a query."""
    starts: list[Trigger] = []
    start = Run.start

    def note(run: Run, trigger: Trigger, *, progress: Progress | None = None) -> StreamingQuery:
        starts.append(trigger)
        return start(run, trigger, progress=progress)

    monkeypatch.setattr(Run, "start", note)
    return starts


@pytest.mark.parametrize("kept", [False, True], ids=["nothing kept", "checkpoint kept"])
def test_files_that_come_later_are_not_read(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    def fix_files(started: StreamingQuery, end: str) -> bool:
        is_fixed = _fix_files(started, end)
        place.put("later", {"id": 9, "v": 9, "ts": at(40)})
        return is_fixed

    monkeypatch.setattr("penstock.runtime.query.whole_input._fix_files", fix_files)
    told: list[Status] = []
    with RuntimeSession(spark, str(place.root / "state") if kept else None) as session:
        (report,) = session.run_once(place.windows(), drain=True, progress=told.append)
        assert (report.inputs, report.drained, closed(session)) == (READ, True, CLOSED)
    assert (place.input / "later.json").exists()
    assert len(told) >= len(MINUTES)


@pytest.mark.parametrize(("folder", "is_found"), [("a b%20é", True), ("state", False)])
def test_where_spark_does_not_read_the_end_the_query_starts_again(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch, folder: str, is_found: bool
) -> None:
    starts = note_starts(monkeypatch)
    if not is_found:
        monkeypatch.setattr("penstock.runtime.query.whole_input._fix_files", lambda *_: False)
    with RuntimeSession(spark, str(place.root / folder)) as session:
        (report,) = session.run_once(place.windows(), drain=True)
        assert (report.inputs, report.drained, closed(session)) == (READ, True, CLOSED)
    assert starts == (
        [Trigger.NO_INTERVAL] if is_found else [Trigger.NO_INTERVAL, Trigger.AVAILABLE_NOW, Trigger.AVAILABLE_NOW]
    )


def test_a_query_that_is_stopped_while_it_reads_the_watermark_has_not_failed(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = Event(), Event()
    read = ClockTable._read

    def read_slowly(clock: ClockTable, path: str) -> str:
        if begun.is_set():
            return read(clock, path)
        begun.set()
        try:
            clock._jvm.java.lang.Thread.sleep(60_000)
        except Py4JJavaError as error:
            ended.set()
            raise OSError(str(error.java_exception.toString())) from None
        return read(clock, path)

    monkeypatch.setattr(ClockTable, "_read", read_slowly)
    monkeypatch.setattr("penstock.runtime.query.whole_input._fix_files", lambda *_: not begun.wait(60))
    with RuntimeSession(spark, str(place.root / "state")) as session:
        (report,) = session.run_once(place.windows(), drain=True)
        assert (report.inputs, report.drained, closed(session)) == (READ, True, CLOSED)
    assert ended.is_set()


def test_spark_starts_the_query_once(session: RuntimeSession, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    starts = note_starts(monkeypatch)
    session.run_once(place.windows(), drain=True)
    assert starts == [Trigger.NO_INTERVAL]
    assert closed(session) == CLOSED


def list_active(session: RuntimeSession) -> list[StreamingQuery]:
    """The queries that run. Each has a session of its own."""
    return [query for each in session._sessions.opened for query in each.streams.active]


def test_a_run_that_is_stopped_goes_on_later(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopping = Event()
    put = Run._put_batch

    def put_slowly(run: Run, batch: DataFrame, number: int) -> None:
        put(run, batch, number)
        time.sleep(1.5)

    monkeypatch.setattr(Run, "_put_batch", put_slowly)
    with RuntimeSession(spark, str(place.root / "state")) as session:
        with pytest.raises(KeyboardInterrupt):
            session.run_once(place.windows(), drain=True, progress=lambda _: stopping.set(), stopping=stopping)
        assert list_active(session) == []
        monkeypatch.undo()
        (report,) = session.run_once(place.windows(), drain=True)
        assert (report.drained, closed(session)) == (True, CLOSED)


def test_a_query_that_fails_is_not_ended(spark: SparkSession, place: Place) -> None:
    state = place.root / "state"
    with RuntimeSession(spark, str(state)) as session:
        with pytest.raises(RunError):
            session.run_once(place.windows("SUM(ASSERT_TRUE(v < 2))"), drain=True)
        assert list_active(session) == []
    (end,) = state.glob("*/end")
    assert [*end.glob("*.json")] == []
