"""Files of SQLite and DuckDB that others hold, or that cannot be written."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from penstock.kit.databases.faults import TableError
from penstock.kit.databases.target_table import TargetTable
from penstock.kit.databases.writer import TableWriter, WritePolicy
from tests.databases.places import DDL, POLICY, Place, rows_of

HOLD = {
    "sqlite": "import sqlite3; c = sqlite3.connect({!r}, isolation_level=None); c.execute('BEGIN IMMEDIATE')",
    "duckdb": "import duckdb; c = duckdb.connect({!r})",
}
PATIENT = WritePolicy(attempts=100, backoff_ms=50, max_delay_ms=100)


@pytest.fixture(params=HOLD)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    place = Place(request.param, str(tmp_path / "rows"))
    place.execute(DDL)
    return place


def hold(place: Place) -> subprocess.Popen[str]:
    """Another process that holds the file until its input ends."""
    code = f"{HOLD[place.dialect].format(place.url)}; print('held', flush=True); input()"
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def hasty(place: Place) -> TargetTable:
    """The declaration of a table whose locks are not waited for."""
    table = place.table()
    return dataclasses.replace(table, address=dataclasses.replace(table.address, connect_timeout=0))


def test_another_process_holds_the_file_and_lets_go(file: Place) -> None:
    texts: list[str] = []

    def note(text: str) -> None:
        texts.append(text)
        if len(texts) == 3:
            holder.communicate("\n")

    writer = file.writer(hasty(file), PATIENT, on_retry=note)
    holder = hold(file)
    writer.write(0, "d", lambda changes: changes.upsert(rows_of((1, 1, "a"))))
    assert writer.counters.retries >= 3
    assert all("lock" in text for text in texts)
    assert file.rows("SELECT * FROM t") == [(1, 1, "a")]


def test_another_process_holds_the_file_too_long(file: Place) -> None:
    writer = file.writer(hasty(file), POLICY)
    holder = hold(file)
    with pytest.raises(TableError, match=r"lock.*\(5 attempts\)") as refused:
        writer.write(0, "d", lambda changes: changes.upsert(rows_of((1, 1, "a"))))
    holder.communicate("\n")
    assert refused.value.kind == "timeout"
    assert file.rows("SELECT * FROM t") == []


def test_others_read_between_two_batches(file: Place) -> None:
    writer = file.writer()
    writer.write(0, "d", lambda changes: changes.upsert(rows_of((1, 1, "a"))))
    holder = hold(file)
    holder.communicate("\n")
    writer.write(1, "e", lambda changes: changes.upsert(rows_of((2, 1, "a"))))
    assert file.rows("SELECT count(*) FROM t") == [(2,)]


def test_two_writers_in_one_process_take_turns(file: Place) -> None:
    file.execute("CREATE TABLE u (k BIGINT PRIMARY KEY, v INTEGER, s TEXT)")
    writers = [file.writer(file.table(name=name), PATIENT) for name in ("t", "u")]
    for number, writer in enumerate(writers):
        writer.open("id", str(number))

    def write(writer: TableWriter) -> None:
        for batch in range(10):
            rows = rows_of((batch, 1, "a"))
            writer.write(batch, "d", lambda changes, rows=rows: changes.upsert(rows))  # type: ignore[misc]

    threads = [threading.Thread(target=write, args=(writer,)) for writer in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in ("t", "u"):
        assert file.rows(f"SELECT count(*) FROM {name}") == [(10,)]


def test_a_file_that_is_moved_away_is_missed(file: Place, tmp_path: Path) -> None:
    writer = file.writer()
    writer.write(0, "d", lambda changes: changes.upsert(rows_of((1, 1, "a"))))
    os.rename(file.url, tmp_path / "moved")
    with pytest.raises(TableError, match=r"no file|unable to open") as refused:
        writer.write(1, "e", lambda changes: changes.upsert(rows_of((2, 1, "a"))))
    assert refused.value.kind == "connect"
    shutil.move(tmp_path / "moved", file.url)
    writer.write(1, "e", lambda changes: changes.upsert(rows_of((2, 1, "a"))))
    assert file.rows("SELECT k FROM t ORDER BY k") == [(1,), (2,)]


READ_ONLY = """
import os, sys
from tests.databases.places import Place, POLICY
from penstock.kit.databases.target_table import TargetTable
from penstock.kit.databases.writer import TableWriter
from penstock.kit.databases.faults import TableError
import duckdb_engine, sqlalchemy.dialects.sqlite
if os.getuid() == 0:
    os.setuid(65534)  # the superuser may write everything
place = Place(sys.argv[1], sys.argv[2])
writer = TableWriter(place.table(), "q", POLICY)
try:
    writer.check()
    writer.open("id", "t")
except TableError as error:
    print(error.kind, error)
"""


def test_a_file_is_read_only(file: Place, tmp_path: Path) -> None:
    os.chmod(file.url, 0o444)
    for folder in (tmp_path, *tmp_path.parents):
        if folder == Path(tempfile.gettempdir()):
            break
        os.chmod(folder, 0o755)
    command = [sys.executable, "-c", READ_ONLY, file.dialect, file.url]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.startswith(f"permission table t of {file.url}")


@pytest.mark.parametrize("dialect", HOLD)
def test_a_file_that_is_no_database(dialect: str, tmp_path: Path) -> None:
    (tmp_path / "rows").write_text("these are no rows" * 1000)
    writer = TableWriter(Place(dialect, str(tmp_path / "rows")).table(), "q", POLICY)
    with pytest.raises(TableError, match=r"not a (valid DuckDB )?database") as refused:
        writer.check()
    assert refused.value.kind == "connect"
