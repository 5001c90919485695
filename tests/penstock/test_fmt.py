"""`penstock fmt`: what it writes, what it says, and its exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.parser.format import script
from tests.penstock.test_cli import penstock

LOOSE = "set state_partitions=4;select stream id from orders -- all\n"
TIDY = "SET state_partitions = 4;\n\nSELECT STREAM id\nFROM orders;  -- all\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loose.sql").write_text(LOOSE, encoding="utf-8")
    Path("tidy.sql").write_text(TIDY, encoding="utf-8")
    Path("bad.sql").write_text("select stream from;", encoding="utf-8")


def test_files_are_written() -> None:
    run = penstock("fmt", "loose.sql", "tidy.sql")
    assert (run.exit_code, run.stdout, run.stderr) == (0, "formatted: loose.sql\n", "")
    assert Path("loose.sql").read_text(encoding="utf-8") == TIDY


def test_a_second_time_nothing_is_written() -> None:
    penstock("fmt", "loose.sql")
    before = Path("loose.sql").stat().st_mtime_ns
    assert penstock("fmt", "loose.sql").stdout == ""
    assert Path("loose.sql").stat().st_mtime_ns == before


def test_check_lists_files_and_writes_none() -> None:
    run = penstock("fmt", "--check", "loose.sql", "tidy.sql")
    assert (run.exit_code, run.stdout) == (1, "loose.sql\n")
    assert Path("loose.sql").read_text(encoding="utf-8") == LOOSE
    assert penstock("fmt", "--check", "tidy.sql").exit_code == 0


def test_standard_input_goes_to_standard_output() -> None:
    run = penstock("fmt", "-", stdin=LOOSE)
    assert (run.exit_code, run.stdout) == (0, TIDY)


def test_a_script_that_does_not_parse_stays() -> None:
    run = penstock("fmt", "bad.sql", "loose.sql")
    assert (run.exit_code, run.stdout) == (1, "formatted: loose.sql\n")
    assert "error[S001]" in run.stderr
    assert Path("bad.sql").read_text(encoding="utf-8") == "select stream from;"


def test_a_file_that_is_not_there() -> None:
    run = penstock("fmt", "none.sql", "loose.sql")
    assert (run.exit_code, run.stdout) == (2, "formatted: loose.sql\n")
    assert "none.sql" in run.stderr


def test_a_layout_of_another_meaning_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "_write_script", lambda text, language: "SELECT STREAM x FROM orders;\n")
    run = penstock("fmt", "loose.sql")
    assert (run.exit_code, run.stdout) == (1, "")
    assert "not formatted: loose.sql" in run.stderr
    assert Path("loose.sql").read_text(encoding="utf-8") == LOOSE


def test_windows_line_ends_become_plain_ones() -> None:
    Path("loose.sql").write_bytes(b"\xef\xbb\xbf" + LOOSE.replace("\n", "\r\n").encode())
    assert penstock("fmt", "loose.sql").exit_code == 0
    assert Path("loose.sql").read_bytes() == TIDY.encode()


def test_a_file_that_differs_in_line_ends_alone_is_written() -> None:
    Path("tidy.sql").write_bytes(TIDY.replace("\n", "\r\n").encode())
    assert penstock("fmt", "--check", "tidy.sql").exit_code == 1
    assert penstock("fmt", "tidy.sql").stdout == "formatted: tidy.sql\n"
    assert penstock("fmt", "--check", "tidy.sql").exit_code == 0
