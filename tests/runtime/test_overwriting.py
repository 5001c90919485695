"""Queries that begin anew remove the files that Penstock has written, and no others."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.codegen.program import Program
from penstock.compilation import compile
from penstock.runtime import RunError, RuntimeSession
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.checkpoint.written_files import NOTE, claim_folder, release_folder, remove_written

SCRIPT = """CREATE STREAM s (id BIGINT) WITH (connector = 'files', path = '{folder}/in', format = 'json');
CREATE STREAM t WITH (connector = 'files', path = '{folder}/out', format = 'json') AS SELECT STREAM id FROM s;
CREATE TABLE n WITH (connector = 'files', path = '{folder}/n', format = 'json', operation = 'op') AS
SELECT id, COUNT(*) AS n FROM s GROUP BY id;
"""
LOG = "_spark_metadata"
pytestmark = pytest.mark.spark


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text('{"id": 1}\n{"id": "no"}\n')
    return compile(SCRIPT.format(folder=tmp_path)).program


def listed(folder: Path) -> list[str]:
    """The files of a folder, without checksums and logs."""
    return sorted(file.name for file in folder.iterdir() if file.suffix != ".crc" and file.is_file())


def refusal(session: RuntimeSession, program: Program) -> tuple[str, str]:
    with pytest.raises(RunError) as refused:
        session.reset(program, overwrite=True)
    (found,) = refused.value.diagnostics
    return found.code, found.detail or ""


def test_what_was_written_is_removed_and_written_again(spark: SparkSession, program: Program, tmp_path: Path) -> None:
    with RuntimeSession(spark) as session:
        assert session.reset(program, overwrite=True).rows == ()
        session.run_once(program, drain=True)
        before = {name: listed(tmp_path / name) for name in ("out", "n", "out_rejected/s", "n_rejected/s")}
        for name in ("out", "n"):
            (tmp_path / name / "mine.json").write_text("{}")
        removed = session.reset(program, overwrite=True)
        assert sorted(removed.rows) == sorted(str(tmp_path / name) for name in before)
        assert (removed.checkpoints, removed.kept) == ((), ())
        assert [*(tmp_path / "out").iterdir()] == [tmp_path / "out" / "mine.json"]
        assert session.reset(program, overwrite=True).rows == ()
        session.run_once(program, drain=True)
    for name, files in before.items():
        after = {*listed(tmp_path / name)} - {"mine.json"}
        assert len(after) == len(files)
        assert not after & {*files}
    assert (tmp_path / "in" / "1.json").read_text() == '{"id": 1}\n{"id": "no"}\n'


def test_a_checkpoint_is_removed_too(spark: SparkSession, program: Program, tmp_path: Path) -> None:
    with RuntimeSession(spark, str(tmp_path / "state")) as session:
        session.run_once(program, drain=False)
        removed = session.reset(program, overwrite=True)
        assert sorted(removed.checkpoints) == [str(tmp_path / "state" / name) for name in ("n", "t")]
        assert [*(tmp_path / "state").iterdir()] == []
        (report, _) = session.run_once(program, drain=False)
        assert (report.out, len(listed(tmp_path / "out"))) == (1, 1)


def test_files_of_others_stay(spark: SparkSession, program: Program, tmp_path: Path) -> None:
    with RuntimeSession(spark) as session:
        session.run_once(program, drain=True)
        (tmp_path / "out" / LOG / NOTE).unlink()
        assert refusal(session, program) == ("R086", "no note in its log says that Penstock wrote them")
        assert len(listed(tmp_path / "out")) == len(listed(tmp_path / "out_rejected" / "s")) == 1
    # The log of a job of Spark without Penstock is not taken over.
    claim_folder(Storage(spark), str(tmp_path / "out"))
    assert not (tmp_path / "out" / LOG / NOTE).exists()


def test_a_file_that_was_changed_stays(spark: SparkSession, program: Program, tmp_path: Path) -> None:
    with RuntimeSession(spark) as session:
        session.run_once(program, drain=True)
        (name,) = listed(tmp_path / "out")
        (tmp_path / "out" / name).write_text("mine")
        session.reset(program, overwrite=True)
    assert (tmp_path / "out" / name).read_text() == "mine"


def test_a_log_removes_nothing_outside_of_its_folder(spark: SparkSession, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / LOG).mkdir(parents=True)
    (tmp_path / "mine").write_text("12")
    entries = [{"path": f"file:{out}/{name}", "size": 2, "action": "add"} for name in ("..", "../mine", ".", "part")]
    (out / "part").write_text("12")
    (out / LOG / "0").write_text("\n".join(["v1", *map(json.dumps, entries)]))
    (out / LOG / NOTE).write_text('{"last": 0}')
    assert remove_written(Storage(spark), str(out))
    assert {*tmp_path.rglob("*")} == {tmp_path / "mine", out}


def test_an_interrupted_removal_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    log = tmp_path / LOG
    log.mkdir()
    for name in (NOTE, ".removing", "1"):
        (log / name).write_text('{"last": 1}')
    assert remove_written(Storage(spark), str(tmp_path))
    assert not log.exists()


def test_rows_that_another_process_writes_stay(spark: SparkSession, program: Program, tmp_path: Path) -> None:
    with RuntimeSession(spark) as session:
        session.run_once(program, drain=True)
        note = tmp_path / "out" / LOG / NOTE
        assert json.loads(note.read_text()).keys() == {"last"}
        processes = Storage(spark).processes
        parent = os.getppid()
        started = processes.of(parent).get().info().startInstant().get().toEpochMilli()
        held = {"host": socket.gethostname(), "python": [parent, started], "jvm": [parent, started]}
        note.with_name(f".{NOTE}.crc").unlink(missing_ok=True)
        note.write_text(json.dumps(held))
        assert refusal(session, program) == ("R086", f"process {parent} writes there")
        note.write_text(json.dumps(held | {"python": [parent, 5], "jvm": [parent, 5]}))  # an earlier one of its number
        assert len(session.reset(program, overwrite=True).rows) == 4


def test_a_query_of_the_session_keeps_its_rows(spark: SparkSession, program: Program, tmp_path: Path) -> None:
    with RuntimeSession(spark) as session:
        (handle, _) = session.start(program)
        claimed = json.loads((tmp_path / "out" / LOG / NOTE).read_text())
        assert claimed["python"][0] == os.getpid()
        assert refusal(session, program) == ("R086", "t of this session writes there")
        with RuntimeSession(spark) as other, pytest.raises(RunError) as refused:
            other.reset(program, overwrite=True)
        told = {(each.code, each.detail) for each in refused.value.diagnostics}
        assert told == {("R086", "another query of this process writes there")}
        session.stop()
        assert not handle.is_running
        session.reset(program, overwrite=True)
    release_folder(Storage(spark), str(tmp_path / "out"))
    assert not (tmp_path / "out" / LOG / NOTE).exists()


def test_a_query_that_has_ended_by_itself_gives_up_its_rows(
    spark: SparkSession, program: Program, tmp_path: Path
) -> None:
    with RuntimeSession(spark) as session:
        for handle in session.start(program):
            assert handle.await_rows(1, 60)
            handle._started.stop()
        removed = session.reset(program, overwrite=True).rows
        assert {str(tmp_path / name) for name in ("out", "n")} <= {*removed}
        assert not (tmp_path / "out" / LOG).exists()
