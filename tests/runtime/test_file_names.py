"""Files are read whatever they are called; those that Spark cannot open are passed over, and named."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.diagnostics.codes.running import R068
from penstock.runtime import RuntimeSession
from penstock.runtime.query.file_names import list_unreadable

NAMES = (
    "100%",
    "a%20b",
    "{1}",
    "[a]",
    "[",
    "*",
    "?",
    "back\\slash",
    "new\nline",
    "\r",
    " ",
    "+",
    "#",
    "'",
    '"',
    "ß",
    "a=b",
)
REFUSED = ("a:b", ":", "\n:")


def test_names_that_spark_cannot_open_are_found(tmp_path: Path) -> None:
    root = os.fsencode(tmp_path)
    for name in (
        b"a:b.json",
        b"in:side/ok.json",
        b"_hidden:x",
        b".hidden:x",
        b"_tmp/a:b",
        b"\xff.json",
        b"D\xff/x.json",
    ):
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        Path(os.fsdecode(path)).touch()
    (tmp_path / "ß.json").touch()
    (tmp_path / "in:side" / "back").symlink_to(tmp_path)

    def find(encoding: str) -> set[bytes]:
        return {os.path.relpath(each, root) for each in list_unreadable(root, encoding)}

    assert find("UTF-8") == {b"a:b.json", b"\xff.json", b"D\xff"}
    assert find("ANSI_X3.4-1968") == {b"a:b.json", b"\xff.json", b"D\xff", "ß.json".encode()}
    assert [*list_unreadable(os.path.join(root, b"a:b.json"), "UTF-8")] == [os.path.join(root, b"a:b.json")]
    assert [*list_unreadable(os.path.join(root, b"gone"), "UTF-8")] == []


def write(path: Path, format_: str, number: int) -> None:
    if format_ == "parquet":
        pq.write_table(pa.table({"id": pa.array([number], pa.int32())}), path)
    else:
        path.write_text(f'{{"id": {number}}}\n' if format_ == "json" else f"id\n{number}\n")


@pytest.mark.spark
def test_files_of_all_names_are_read_or_named(spark: SparkSession, tmp_path: Path) -> None:
    text = ""
    for format_ in ("json", "csv", "parquet"):
        folder = tmp_path / format_
        (folder / "in:side {1}").mkdir(parents=True)
        for number, name in enumerate([*NAMES, *REFUSED]):
            write(folder / f"{name}.{format_}", format_, number)
        write(folder / "in:side {1}" / "x", format_, 99)
        place = f"connector = 'files', path = '{folder}', format = '{format_}'"
        text += f"CREATE STREAM {format_}_in (id INT) WITH ({place}); "
        text += f"CREATE STREAM {format_}_out AS SELECT STREAM id FROM {format_}_in; "
    expected = [*range(len(NAMES)), 99]
    with RuntimeSession(spark) as session:
        reports = session.run_once(penstock.compile(text).program, drain=True)
        for report, format_ in zip(reports, ("json", "csv", "parquet"), strict=True):
            assert sorted(row["id"] for row in session.rows(f"{format_}_out")) == expected
            (warning,) = report.warnings
            assert (warning.code, warning.severity) == (R068.id, "warning")
            assert f"3 of the files of {format_}_in" in warning.message
            assert "a:b" in warning.message
