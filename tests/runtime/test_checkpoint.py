"""Who may use a checkpoint, and what is left after a process was killed."""

from __future__ import annotations

import json
import random
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.codegen.program import Program
from penstock.diagnostics.diagnostic import Diagnostic
from penstock.runtime import RunError, RuntimeSession
from penstock.runtime.checkpoint import lock
from tests.runtime.programs import Place, at, written

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]


def refused(session: RuntimeSession, program: Program, *, drain: bool = False) -> Diagnostic:
    with pytest.raises(RunError) as failure:
        session.run_once(program, drain=drain)
    (finding,) = failure.value.diagnostics
    return finding


def test_a_changed_query_is_refused_and_told_what_changed(spark: SparkSession, place: Place) -> None:
    place.put("a", {"id": 1, "v": 10, "ts": at(0)})
    with RuntimeSession(spark, str(place.root / "checkpoint")) as session:
        session.run_once(place.windows("SUM(v)"), drain=False)
        finding = refused(session, place.windows("MAX(v)"))
        assert (finding.code, finding.message) == (
            "R010",
            f"checkpoint belongs to another query: {place.root / 'checkpoint' / 'windows'}",
        )
        assert "SUM(v)" in (finding.detail or "")
        assert "MAX(v)" in (finding.detail or "")
        (report,) = session.run_once(place.windows("SUM(v)"), drain=False)
        assert report.inputs[0].read == 0


def test_a_folder_with_other_files_is_refused(spark: SparkSession, place: Place) -> None:
    place.put("a", {"id": 1, "v": 10, "ts": at(0)})
    folder = place.root / "checkpoint" / "kept"
    folder.mkdir(parents=True)
    (folder / "thesis.txt").write_text("all of it")
    with RuntimeSession(spark, str(place.root / "checkpoint")) as session:
        assert refused(session, place.kept()).code == "R011"
    assert [file.name for file in folder.iterdir()] == ["thesis.txt"]


def test_a_drained_checkpoint_takes_no_more_input(spark: SparkSession, place: Place) -> None:
    place.put("a", {"id": 1, "ts": at(0)})
    with RuntimeSession(spark, str(place.root / "checkpoint")) as session:
        session.run_once(place.windows(), drain=True)
        assert refused(session, place.windows()).code == "R013"
        (report,) = session.run_once(place.windows(), drain=True)
        assert report.out == 0


def test_a_checkpoint_in_use_is_refused(spark: SparkSession, place: Place) -> None:
    place.put("a", {"id": 1, "v": 10, "ts": at(0)})
    with RuntimeSession(spark, str(place.root / "checkpoint")) as session:
        (handle,) = session.start(place.kept())
        finding = refused(session, place.kept())
        assert finding.code == "R012"
        handle.stop()
        session.run_once(place.kept(), drain=False)


def run(root: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.runtime.killed", str(root)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_line(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == word:
            return
    assert process.stderr is not None
    pytest.fail(process.stderr.read())


def test_two_processes_do_not_share_a_checkpoint(spark: SparkSession, place: Place) -> None:
    for number in range(30):
        place.put(f"{number:03}", {"id": number, "v": 10, "ts": at(number)})
    other = run(place.root)
    try:
        wait_for_line(other, "batch")
        with RuntimeSession(spark, str(place.root / "checkpoint")) as session:
            finding = refused(session, place.kept(connector="files", path=str(place.root / "kept"), format="json"))
        assert finding.code == "R012"
        assert f"process {other.pid}" in finding.message
    finally:
        other.kill()
        other.communicate()


def test_a_jvm_that_does_not_end_is_named(spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "_JVM_END_SECONDS", 0.2)
    processes: Any = spark._jvm.java.lang.ProcessHandle  # type: ignore[union-attr]
    place.put("a", {"id": 1, "v": 10, "ts": at(0)})
    with (
        subprocess.Popen(["sleep", "300"]) as jvm,
        RuntimeSession(spark, str(place.root / "checkpoint")) as session,
    ):
        try:
            session.run_once(place.kept(), drain=False)
            started = lock._read_start_time(processes, jvm.pid)
            held = {"host": socket.gethostname(), "python": [2**22 + 1, 0], "jvm": [jvm.pid, started]}
            file = place.root / "checkpoint" / "kept" / "lock"
            file.write_text(json.dumps(held))
            finding = refused(session, place.kept())
        finally:
            jvm.kill()
        assert (finding.code, finding.hint) == ("R012", f"kill -9 {jvm.pid}")
        jvm.wait()
        session.run_once(place.kept(), drain=False)


def test_killed_runs_write_each_row_once(place: Place) -> None:
    """Also in the moment in which the JVM of a killed process still lives: the next run waits for its end."""
    for number in range(12):
        place.put(f"{number:03}", {"id": number, "v": 10 + number, "ts": at(number)}, f"broken {number}")
        time.sleep(0.02)
    for _ in range(2):
        process = run(place.root)
        wait_for_line(process, "batch")
        time.sleep(random.uniform(0, 3))
        process.kill()
        process.communicate()
    last = run(place.root)
    out, errors = last.communicate(timeout=300)
    assert last.returncode == 0, errors
    assert errors == ""
    assert out.splitlines()[-1] == "state stores are closed"
    assert out.count("True") == 2
    assert "False" not in out
    assert sorted(row["id"] for row in written(place.root / "kept")) == list(range(12))
    assert sorted(row["record"] for row in written(place.root / "kept_rejected" / "orders")) == sorted(
        f"broken {number}" for number in range(12)
    )
    assert sorted((row["window_start"][11:16], row["n"]) for row in written(place.root / "windows")) == [
        ("10:00", 10),
        ("10:10", 2),
    ]
