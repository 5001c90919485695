"""Folders that cannot be written are refused before Spark starts, with their owner."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.compilation import compile
from penstock.runtime import RunError, connect
from penstock.runtime.checkpoint.writable import check_writable, find_local, try_folder
from penstock.server.serving import ServerError, lock_state
from tests.e2e.shell import penstock_here

NOBODY = 65534
SCRIPT = """CREATE STREAM s (id BIGINT) WITH (connector = 'files', path = '{folder}/in', format = 'json');
CREATE STREAM t WITH (connector = 'files', path = '{folder}/out', format = 'json') AS SELECT STREAM id FROM s;"""


@pytest.fixture
def locked() -> Iterator[Path]:
    """A folder that this process may look into and not write."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o555)
        is_root = os.geteuid() == 0
        if is_root:
            os.seteuid(NOBODY)
        try:
            yield folder
        finally:
            if is_root:
                os.seteuid(0)
            folder.chmod(0o755)


def test_a_folder_that_can_be_made_is_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    program = compile(SCRIPT.format(folder=tmp_path)).program
    check_writable(program, str(tmp_path / "deep" / "state"))
    check_writable(program, f"file:{tmp_path}/state")
    check_writable(program, "s3a://bucket/state")
    assert [*tmp_path.rglob("*")] == [tmp_path / "out"]
    assert (find_local("file:///a/b"), find_local("hdfs://n/a")) == (Path("/a/b"), None)


def test_a_folder_of_another_user_names_its_owner(locked: Path) -> None:
    finding = try_folder(locked / "state" / "q")
    assert finding is not None
    assert (finding.code, finding.message) == ("R057", f"folder cannot be written: {locked}/state/q")
    told = finding.detail or ""
    assert told.startswith(f"permission denied: {locked} belongs to ")
    assert " with dr-xr-xr-x, and this process is " in told
    assert f" write to {locked}" in (finding.hint or "")


def test_each_folder_of_a_run_is_tried(locked: Path) -> None:
    with pytest.raises(RunError) as failure:
        check_writable(compile(SCRIPT.format(folder=locked)).program, f"{locked}/state")
    messages = [each.message for each in failure.value.diagnostics]
    assert messages == [
        f"folder cannot be written: {locked}/{name}" for name in ("state", "state/t", "out", "out_rejected")
    ]


@pytest.mark.parametrize(
    ("name", "reason"), [("/proc/state", "/proc"), ("{folder}/file/state", "{folder}/file is a file")]
)
def test_a_run_ends_before_spark_starts(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "script.sql").write_text(SCRIPT.format(folder=tmp_path))
    (tmp_path / "in").mkdir()
    name, reason = name.format(folder=tmp_path), reason.format(folder=tmp_path)
    done = penstock_here(tmp_path, "run", "--once", "--checkpoint", name, "script.sql")
    assert (done.exit_code, f"error[R057]: folder cannot be written: {name}" in done.stderr) == (3, True)
    assert reason in done.stderr
    with pytest.raises(RunError) as failure:
        connect(checkpoint=name)
    assert failure.value.diagnostics[0].code == "R057"
    with pytest.raises(ServerError) as told, lock_state(Path(name)):
        pass
    assert f"error[R057]: folder cannot be written: {name}" in str(told.value)


def test_a_file_in_place_of_the_output_is_told_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(RunError) as failure:
        check_writable(compile(SCRIPT.format(folder=tmp_path)).program, None)
    (found,) = failure.value.diagnostics
    assert (found.code, found.message) == ("R017", f"output folder of t is a file: {tmp_path}/out")
