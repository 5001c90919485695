"""Queries run to the end of their input, on Spark."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.codegen import write_job
from penstock.codegen.program import Program
from penstock.kit.clock_view import clock_rows
from penstock.runtime import InputAccount, RunError, RuntimeSession, Status
from tests.runtime.programs import Place, at, written

pytestmark = pytest.mark.spark


def code_of(session: RuntimeSession, program: Program) -> tuple[str, str]:
    """The code and the message with which a run is refused or fails."""
    with pytest.raises(RunError) as failure:
        session.run_once(program, drain=True)
    (finding,) = failure.value.diagnostics
    assert "\n" not in finding.message
    assert "Traceback" not in f"{finding.message}{finding.detail}"
    return finding.code, finding.message


def window(minute: int) -> datetime:
    return datetime.fromisoformat(at(minute)).astimezone(UTC)


def counted(session: RuntimeSession) -> dict[datetime, int]:
    rows = session.rows("windows")
    assert len({row["window_start"] for row in rows}) == len(rows)
    return {row["window_start"]: row["n"] for row in rows}


def test_each_row_has_one_fate_and_rejected_rows_are_set_aside(session: RuntimeSession, place: Place) -> None:
    place.put(
        "a",
        {"id": 1, "v": 10, "ts": at(0)},
        {"id": 2, "v": 9, "ts": at(1)},
        {"id": 3, "v": "many", "ts": at(2)},
        "",
        "{half a rec",
        {"id": 4, "v": 11, "ts": "2999-01-01T00:00:00Z"},
        {"id": 5, "v": 11},
    )
    (report,) = session.run_once(place.kept(), drain=True)
    assert report.inputs == (
        InputAccount("orders", read=6, rejected=4, late=0, filtered=1, used=1, rejected_to="kept_rejected/orders"),
    )
    assert report.out == 1
    assert session.rows("kept") == [{"id": 1, "v": 10}]
    aside = session.rows("kept_rejected/orders")
    told = sorted(row["reason"].partition(":")[0] for row in aside)
    assert told == ["future", "malformed record", "malformed record", "no event time"]
    assert "{half a rec" in [row["record"] for row in aside]
    assert {row["file"].rpartition("/")[2] for row in aside} == {"a.json"}


def test_csv_files_are_written_with_the_header_that_readers_expect(session: RuntimeSession, place: Place) -> None:
    out = place.root / "kept"
    place.put("a", {"id": 1, "v": 10, "ts": at(0)})
    session.run_once(place.kept(connector="files", path=str(out), format="csv"), drain=True)
    (file,) = out.glob("part-*.csv")
    assert file.read_text() == "id,v\n1,10\n"


def test_rejected_rows_lie_beside_a_files_sink(session: RuntimeSession, place: Place) -> None:
    out = place.root / "kept"
    place.put("a", {"id": 1, "v": 10, "ts": at(0)}, "no record")
    (report,) = session.run_once(place.kept(connector="files", path=str(out), format="json"), drain=True)
    assert written(out) == [{"id": 1, "v": 10}]
    folder = report.inputs[0].rejected_to
    assert folder == f"{out}_rejected/orders"
    assert [row["record"] for row in written(Path(folder))] == ["no record"]


def test_no_rejects_query_runs_without_rejected_rows(session: RuntimeSession, place: Place) -> None:
    place.put("a", {"id": 1, "v": 10, "ts": at(0)})
    (report,) = session.run_once(
        place.kept(connector="files", path=str(place.root / "kept"), format="json"), drain=True
    )
    assert report.inputs[0].rejected_to is None
    assert not (place.root / "kept_rejected").exists()


def test_late_rows_are_counted_and_change_nothing(session: RuntimeSession, place: Place) -> None:
    place = Place(place.root, (("format", "json"), ("files_per_batch", 1)))
    place.put("a", {"id": 1, "ts": at(0)}, {"id": 2, "ts": at(12)})
    time.sleep(0.05)  # the order of files is that of their modification times
    place.put("b", {"id": 3, "ts": at(6)}, {"id": 4, "ts": at(7)})  # the watermark is 12 - 5
    (report,) = session.run_once(place.windows(), drain=True)
    assert report.inputs == (InputAccount("orders", read=4, rejected=0, late=1, filtered=0, used=3),)
    assert counted(session) == {window(0): 2, window(10): 1}
    assert report.out == 2


def test_open_windows_close_only_when_drained(session: RuntimeSession, place: Place) -> None:
    place.put("a", {"id": 1, "ts": at(0)}, {"id": 2, "ts": at(16)})
    (report,) = session.run_once(place.windows(), drain=False)
    assert counted(session) == {window(0): 1}
    assert (report.state_rows, report.drained, report.watermark) == (1, False, window(11))
    (report,) = session.run_once(place.windows(), drain=True)
    assert counted(session) == {window(0): 1, window(10): 1}
    assert (report.state_rows, report.drained) == (0, True)


def test_an_update_query_keeps_the_newest_row_of_each_key(session: RuntimeSession, place: Place) -> None:
    place = Place(place.root, (("format", "json"), ("files_per_batch", 1)))
    place.put("a", {"id": 1, "ts": at(0)}, {"id": 2, "ts": at(11)})
    place.put("b", {"id": 3, "ts": at(12)})
    (report,) = session.run_once(place.windows(mode="update"), drain=False)
    assert counted(session) == {window(0): 1, window(10): 2}
    assert report.out == 3


def test_progress_is_told_after_each_batch(session: RuntimeSession, place: Place) -> None:
    place = Place(place.root, (("format", "json"), ("files_per_batch", 1)))
    for name in "abc":
        place.put(name, {"id": 1, "v": 10, "ts": at(0)})
    told: list[Status] = []
    session.run_once(place.kept(), drain=True, progress=told.append)
    assert [status.rows for status in told] == [1, 2, 3]


def test_a_run_goes_on_where_the_last_one_ended(spark: SparkSession, place: Place) -> None:
    program = place.windows(connector="files", path=str(place.root / "out"), format="json")
    counts = []
    for name, minute in (("a", 0), ("b", 4), ("c", 20)):
        place.put(name, {"id": 1, "ts": at(minute)})
        with RuntimeSession(spark, str(place.root / "checkpoint")) as session:
            (report,) = session.run_once(program, drain=name == "c")
            counts.append(report.inputs[0].used)
    assert counts == [1, 1, 1]
    assert sorted(row["n"] for row in written(place.root / "out")) == [1, 2]


def test_changes_wait_for_the_time_that_the_query_says(spark: SparkSession, place: Place) -> None:
    """A day, so that none begins while the test runs."""
    program = place.windows(mode="update")
    daily = replace(program, queries=tuple(replace(query, interval=86_400_000) for query in program.queries))
    place.put("a", {"id": 1, "v": 10, "ts": at(0)})
    with RuntimeSession(spark, str(place.root / "checkpoint")) as session:
        (handle,) = session.start(daily)
        wait_for(lambda: handle.status().out == 1)
        place.put("b", {"id": 2, "v": 10, "ts": at(1)})
        assert not handle.await_done(timeout=3)
        assert counted(session) == {window(0): 1}
        handle.stop()


def test_a_continuous_query_reads_files_as_they_come(spark: SparkSession, place: Place) -> None:
    place.put("a", {"id": 1, "v": 10, "ts": at(0)}, "no record")
    with RuntimeSession(spark, str(place.root / "checkpoint")) as session:
        (handle,) = session.start(place.kept())
        wait_for(lambda: handle.status().out == 1)
        place.put("b", {"id": 2, "v": 20, "ts": at(1)})
        wait_for(lambda: handle.status().out == 2)
        status = handle.status()
        assert (status.running, status.rows, status.rejected, status.late) == (True, 3, 1, 0)
        aside = place.root / "checkpoint" / "kept_rejected" / "orders"
        wait_for(lambda: (aside / "_spark_metadata").exists() and len(written(aside)) == 1)
        assert not handle.await_done(timeout=0.1)
        handle.stop()
        assert handle.await_done(timeout=10)
        assert not handle.status().running
        assert session.rows("kept") == [{"id": 1, "v": 10}, {"id": 2, "v": 20}]


def test_rejected_rows_that_cannot_be_written_end_the_query(spark: SparkSession, place: Place) -> None:
    place.put("a", {"id": 1, "v": 10, "ts": at(0)})
    with RuntimeSession(spark, str(place.root / "checkpoint")) as session:
        (handle,) = session.start(place.kept())
        wait_for(lambda: handle.status().out == 1)
        folder = place.root / "checkpoint" / "kept_rejected"
        folder.write_text("", encoding="utf-8")  # a file where the folder would be
        place.put("b", "no record")
        wait_for(lambda: handle.status().error)
        assert not handle.status().running
        with pytest.raises(RunError) as raised:
            handle.await_done()
        assert raised.value.diagnostics[0] == handle.status().error


def wait_for(condition: object, seconds: float = 60) -> None:
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("expression", "code", "words"),
    [
        ("1 DIV (v - v)", "R020", "division by zero in kept"),
        ("CAST(CONCAT('x', id) AS INT)", "R021", "'x1' cannot be cast to INT in kept"),
        ("v + 2147483647", "R022", "number out of range in kept"),
        ("CAST(raise_error('enough') AS INT)", "R099", "enough"),
    ],
)
@pytest.mark.parametrize("connector", ["memory", "files"])
def test_failures_of_expressions_are_findings(
    session: RuntimeSession, place: Place, expression: str, code: str, words: str, connector: str
) -> None:
    place.put("a", {"id": 1, "v": 10, "ts": at(0)})
    options = {"path": str(place.root / "out"), "format": "json"} if connector == "files" else {}
    found, message = code_of(session, place.kept(expression, connector=connector, **options))
    assert found == code
    assert words in message


def test_what_spark_refuses_is_a_finding(session: RuntimeSession, place: Place) -> None:
    place.put("a", {"id": 1, "v": 10, "ts": at(0)})
    code, message = code_of(session, place.kept("no_such_column"))
    assert code == "R099"
    assert "no_such_column" in message


def test_a_folder_with_the_rows_of_another_run_is_refused(session: RuntimeSession, place: Place) -> None:
    place.put("a", {"id": 1, "v": 10, "ts": at(0)})
    program = place.kept(connector="files", path=str(place.root / "out"), format="json")
    session.run_once(program, drain=True)
    assert code_of(session, program) == ("R014", f"folder holds the rows of an earlier run: {place.root / 'out'}")
    assert len(written(place.root / "out")) == 1


def test_two_queries_do_not_write_to_one_folder(session: RuntimeSession, place: Place) -> None:
    place.put("a", {"id": 1, "v": 10, "ts": at(0)})
    program = place.kept(connector="files", path=str(place.root / "out"), format="json")
    (query,) = program.queries
    both = replace(program, queries=(query, replace(query, name="again")))
    assert code_of(session, both) == ("R016", f"again and kept write to the same folder: {place.root / 'out'}")
    assert not (place.root / "out").exists()


def test_an_unknown_memory_sink_is_named(session: RuntimeSession) -> None:
    with pytest.raises(RunError, match=r"R030: unknown memory sink nowhere"):
        session.rows("nowhere")


def test_names_of_streams_lead_nowhere_else(spark: SparkSession, place: Place) -> None:
    place.put("1", {"id": 1}, "broken")
    stream = f"(id INT) WITH (connector = 'files', path = '{place.input}', format = 'json')"
    script = (
        f"CREATE STREAM `../../../escaped` {stream}; CREATE STREAM kept AS SELECT STREAM id FROM `../../../escaped`;"
    )
    program = penstock.compile(script).program
    with RuntimeSession(spark, str(place.root / "state")) as session:
        (report,) = session.run_once(program, drain=False)
    assert report.inputs[0].rejected == 1
    assert {path.name for path in place.root.iterdir()} == {"orders", "state"}
    (folder,) = (place.root / "state" / "kept_rejected").iterdir()
    assert folder.name == "%2E.%2F..%2F..%2Fescaped"
    assert [path.name for path in (place.root / "state" / "kept" / "rejected").iterdir()] == [folder.name]
    (reason,) = [json.loads(file.read_text())["reason"] for file in folder.glob("*.json")]
    assert reason.startswith("malformed record: ")
    assert not any(".." in name for name in write_job(program))


def test_without_the_watermark_no_row_counts(
    spark: SparkSession, session: RuntimeSession, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = "penstock.runtime.query.run.clock_rows"
    monkeypatch.setattr(elsewhere, lambda spark, place: clock_rows(spark, f"{place}/elsewhere"))
    place.put("1", {"id": 1, "v": 10, "ts": at(0)})
    assert code_of(session, place.windows())[0] == "R046"
