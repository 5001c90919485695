"""The note in the log of an output folder says who writes there, and which files may be removed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, cast

import pytest

from penstock.runtime import RunError
from penstock.runtime.checkpoint import written_files
from penstock.runtime.checkpoint.local_files import LocalFiles
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.checkpoint.written_files import (
    NOTE,
    check_removable,
    claim_folder,
    release_folder,
    remove_written,
)

ALIVE = [os.getppid(), 7]
GONE = [os.getppid(), 5]


class Disk(LocalFiles):
    """What of a `Storage` these functions use, without a JVM."""

    processes = None

    def folder(self, path: str) -> None:
        Path(path).mkdir(parents=True, exist_ok=True)

    def create(self, path: str, text: str) -> bool:
        is_new = not Path(path).exists()
        if is_new:
            Path(path).write_text(text)
        return is_new

    def publish(self, path: str, text: str) -> None:
        Path(path).write_text(text)

    def delete(self, path: str) -> None:
        if Path(path).is_dir():
            shutil.rmtree(path)
        else:
            Path(path).unlink(missing_ok=True)

    def sizes(self, folder: str) -> dict[str, int]:
        return {each.name: each.stat().st_size for each in Path(folder).iterdir() if each.is_file()}


class Output:
    """A folder that a files sink writes."""

    def __init__(self, folder: Path) -> None:
        self.storage, self.folder = cast(Storage, Disk()), folder
        self.log = folder / "_spark_metadata"
        self.note = self.log / NOTE

    def claim(self) -> None:
        claim_folder(self.storage, str(self.folder))

    def release(self) -> None:
        release_folder(self.storage, str(self.folder))

    def remove(self) -> bool:
        return remove_written(self.storage, str(self.folder))

    def commit(self, number: int) -> Path:
        """Writes a file, as Spark does in a micro-batch."""
        self.log.mkdir(parents=True, exist_ok=True)
        file = self.folder / f"part-{number}"
        file.write_text("12")
        entry = {"path": f"file:{file}", "size": 2, "action": "add"}
        (self.log / str(number)).write_text(f"v1\n{json.dumps(entry)}")
        return file

    def keep(self, note: dict[str, Any]) -> None:
        self.log.mkdir(parents=True, exist_ok=True)
        self.note.write_text(json.dumps(note))

    def refusal(self) -> tuple[str, str, str]:
        """The code, the detail and the hint with which a removal is refused; three empty texts if it is not."""
        try:
            check_removable(self.storage, str(self.folder))
        except RunError as refused:
            (found,) = refused.diagnostics
            return found.code, found.detail or "", found.hint or ""
        return "", "", ""


@pytest.fixture
def output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Output:
    def identify(processes: object) -> dict[str, list[int]]:
        return {"python": [os.getpid(), 1], "jvm": [os.getpid() + 1, 1]}

    monkeypatch.setattr(written_files, "identify_process", identify)
    monkeypatch.setattr(written_files, "is_alive", lambda processes, process: process == ALIVE)
    monkeypatch.setattr("socket.gethostname", lambda: "here")
    return Output(tmp_path / "out")


def test_another_process_keeps_its_rows(output: Output) -> None:
    output.commit(0)
    output.keep({"host": "here", "python": GONE, "jvm": ALIVE})
    assert output.refusal() == ("R086", f"process {ALIVE[0]} writes there", "stop that process first")
    output.keep({"host": "here", "python": GONE, "jvm": GONE})
    assert output.refusal() == ("", "", "")


def test_a_process_of_another_host_keeps_its_rows(output: Output) -> None:
    """Nobody here knows whether it has ended."""
    output.commit(0)
    output.keep({"host": "there", "python": GONE, "jvm": GONE})
    told = f"process {GONE[0]} on there writes there, or has not ended in order"
    assert output.refusal() == ("R086", told, f"if that process has ended, delete the note {output.note}")


def test_a_log_without_batches_is_of_nobody(output: Output) -> None:
    """A query that has written nothing leaves no note, so that files of a later program are not taken for its own."""
    output.claim()
    assert json.loads(output.note.read_text())["host"] == "here"
    output.release()
    assert not output.note.exists()
    file = output.commit(0)
    assert output.refusal()[:2] == ("R086", "no note in its log says that Penstock wrote them")
    assert not output.remove()
    assert file.exists()


def test_batches_after_the_last_of_the_note_are_of_others(output: Output) -> None:
    output.claim()
    mine = output.commit(0)
    output.release()
    assert output.refusal() == ("", "", "")
    theirs = output.commit(1)
    hint = "remove the folder by hand, or take another path"
    assert output.refusal() == ("R086", "Penstock wrote micro-batches up to 0, and the log goes on to 1", hint)
    before = output.note.read_text()
    output.claim()
    output.release()
    assert output.note.read_text() == before
    (output.log / "1").unlink()
    assert output.remove()
    assert (mine.exists(), theirs.exists(), output.log.exists()) == (False, True, False)


def test_a_query_that_goes_on_writes_a_later_note(output: Output) -> None:
    for number in (0, 1):
        output.claim()
        output.commit(number)
        output.release()
    assert json.loads(output.note.read_text()) == {"last": 1}
    assert output.refusal() == ("", "", "")


def test_a_process_that_has_not_written_yet_keeps_its_log(output: Output) -> None:
    output.keep({"host": "here", "python": ALIVE, "jvm": ALIVE})
    assert output.refusal()[:2] == ("R086", f"process {ALIVE[0]} writes there")


def test_an_interrupted_removal_ends_before_a_new_log(output: Output) -> None:
    """Else a later removal would take the new log for the rest of the old one, and leave its files."""
    output.keep({"last": 0})
    (output.log / ".removing").touch()
    output.claim()
    assert [*output.log.iterdir()] == [output.note]
    file = output.commit(0)
    output.release()
    assert output.remove()
    assert not file.exists()


def test_an_interrupted_removal_has_to_go_on(output: Output) -> None:
    output.commit(1)
    output.keep({"last": 1})
    (output.log / ".removing").touch()
    with pytest.raises(RunError) as refused:
        output.claim()
    assert [each.code for each in refused.value.diagnostics] == ["R086"]
    assert output.refusal() == ("", "", "")
    assert output.remove()
    output.claim()
    assert [*output.log.iterdir()] == [output.note]


def test_another_query_of_the_process_keeps_its_rows(output: Output) -> None:
    output.claim()
    output.claim()
    output.commit(0)
    for _ in range(2):
        assert output.refusal()[:2] == ("R086", "another query of this process writes there")
        output.release()
    assert output.refusal() == ("", "", "")
    output.release()
    assert json.loads(output.note.read_text()) == {"last": 0}


def test_what_a_lost_jvm_has_left_may_be_removed(output: Output) -> None:
    output.commit(0)
    output.keep({"host": "here", "python": [os.getpid(), 1], "jvm": GONE})
    assert output.refusal() == ("", "", "")
