"""The note in the log of an output folder says who writes there, and which files may be removed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
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
def output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Output]:
    def identify(processes: object) -> dict[str, list[int]]:
        return {"python": [os.getpid(), 1], "jvm": [os.getpid() + 1, 1]}

    monkeypatch.setattr(written_files, "identify_process", identify)
    monkeypatch.setattr(written_files, "is_alive", lambda processes, process: process == ALIVE)
    monkeypatch.setattr("socket.gethostname", lambda: "here")
    yield Output(tmp_path / "out")


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
