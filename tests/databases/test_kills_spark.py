"""Queries that change tables, killed at named points and started again: each micro-batch changes its table once."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.databases.places import MOSTLY_POSTGRES, Place
from tests.databases.stopped import POINTS, REACHED
from tests.databases.test_statements import BEFORE, Replay, declare, put_file
from tests.e2e.shell import ENVIRONMENT, LOCAL, penstock_here, write
from tests.e2e.test_kill import newest

pytestmark = pytest.mark.spark

KILLS = int(os.environ.get("PENSTOCK_TABLE_KILLS", "4"))
"""In each database. Each starts a JVM, so that this takes minutes."""
PATIENCE = 240  # seconds until a micro-batch has to be there
DECLARED = """
CREATE STREAM ops (id BIGINT, name STRING, n BIGINT)
  WITH (connector = 'files', path = 'ops', format = 'json', files_per_batch = 1);
CREATE TABLE sums (id BIGINT PRIMARY KEY, name STRING, n BIGINT) WITH ({place}, table = 'sums');
CREATE TABLE adds (id BIGINT PRIMARY KEY, name STRING, n BIGINT) WITH ({place}, table = 'adds');
CREATE TABLE puts (id BIGINT PRIMARY KEY, name STRING, n BIGINT) WITH ({place}, table = 'puts');
CREATE TABLE deletes (id BIGINT PRIMARY KEY, name STRING, n BIGINT) WITH ({place}, table = 'deletes');
"""
STATEMENTS = {
    "sums": """UPDATE sums SET n = sums.n * 2 + o.n, name = CONCAT(sums.name, o.name) FROM STREAM ops AS o
        WHERE sums.id = o.id ELSE INSERT (n, name) VALUES (o.n + 100, '');""",
    "adds": """UPDATE adds SET n = adds.n - o.n, name = o.name FROM ops AS o WHERE adds.id = o.id
        ELSE INSERT (n) VALUES (100);""",
    "puts": "INSERT INTO puts SELECT STREAM id, name, n FROM ops;",
    "deletes": "DELETE FROM deletes USING ops AS o WHERE deletes.id = o.id AND o.n > 5;",
}
ALL = ("declared.sql", *(f"{name}.sql" for name in STATEMENTS))


def prepare(place: Place, folder: Path, files: int) -> Replay:
    """Scripts, tables and files of a stream in a folder, and what the tables must come to."""
    scripts = {"declared.sql": DECLARED.format(place=declare(place))}
    write(folder, {**scripts, **{f"{name}.sql": text for name, text in STATEMENTS.items()}})
    for name in STATEMENTS:
        values = ", ".join(f"({row['id']}, '{row['name']}', {row['n']})" for row in BEFORE.values())
        place.execute(
            f"CREATE TABLE {name} (id BIGINT PRIMARY KEY, name TEXT, n BIGINT)", f"INSERT INTO {name} VALUES {values}"
        )
    replay, draw = Replay(), random.Random(7)
    for number in range(files):
        ops = [
            {"id": draw.choice([*range(8), None]), "name": draw.choice("abc"), "n": draw.randint(-3, 12)}
            for _ in range(5)
        ]
        put_file(folder, number, ops)
        for op in ops:
            replay.apply(op)
    return replay


def stopped(folder: Path, point: str, action: str, *scripts: str, checkpoint: str = "state") -> subprocess.Popen[str]:
    """A run in a process group of its own that stops at a point of its second micro-batch."""
    (folder / REACHED).unlink(missing_ok=True)
    run = ("run", "--once", *LOCAL, "--checkpoint", checkpoint, *scripts)
    command = [sys.executable, "-m", "tests.databases.stopped", point, action, *run]
    return subprocess.Popen(
        command, cwd=folder, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def wait_until_reached(folder: Path, process: subprocess.Popen[str]) -> int:
    """The micro-batch in which the process is stopped."""
    deadline = time.monotonic() + PATIENCE
    while not (folder / REACHED).exists() or not (folder / REACHED).read_text():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return int((folder / REACHED).read_text())


def written(place: Place, table: str) -> list[int]:
    """The micro-batches of a table that its ledger knows."""
    if place.rows(LEDGERS[place.dialect]) == [(0,)]:
        return []
    known = place.rows(f"SELECT batch FROM penstock_ledger WHERE sink = '{table}' AND batch >= 0 ORDER BY 1")
    return [batch for (batch,) in known]


LEDGERS = {
    "postgres": "SELECT count(to_regclass('penstock_ledger'))",
    "mysql": "SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE() "
    "AND table_name = 'penstock_ledger'",
    "sqlite": "SELECT count(*) FROM sqlite_master WHERE name = 'penstock_ledger'",
    "duckdb": "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'penstock_ledger'",
}


def kill(place: Place, folder: Path, name: str, point: str) -> None:
    """Kills a run of one query, after it has committed a micro-batch."""
    before = len(written(place, name))
    with stopped(folder, point, "kill", "declared.sql", f"{name}.sql") as process:
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL, told
    batch = int((folder / REACHED).read_text())
    checkpoint = folder / "state" / name
    assert newest(checkpoint / "offsets") == batch
    assert newest(checkpoint / "commits") == batch - 1
    known = written(place, name)
    assert (batch in known) == (point == "after")
    assert batch - 1 in known
    assert len(known) > before or point == "before"


def finish(place: Place, folder: Path, replay: Replay) -> None:
    """Runs all queries to their end, and compares the tables."""
    ended = penstock_here(folder, "run", "--once", "--checkpoint", "state", *ALL)
    assert ended.exit_code == 0, ended.output
    for name in STATEMENTS:
        rows = sorted((key, row["name"], row["n"]) for key, row in replay.tables[name].items())
        assert sorted(place.rows(f"SELECT id, name, n FROM {name}")) == rows, name
        if replay.rejected[name]:
            rejected: list[Any] = place.rows(f"SELECT count(*) FROM {name}_rejected")
            assert rejected == [(replay.rejected[name],)], name
        assert written(place, name) == list(range(len(list((folder / "ops").iterdir())))), name


@MOSTLY_POSTGRES
@pytest.mark.usefixtures("spark")
def test_a_kill_after_commit_changes_nothing_twice(place: Place, tmp_path: Path) -> None:
    replay = prepare(place, tmp_path, 3)
    kill(place, tmp_path, "adds", "after")
    finish(place, tmp_path, replay)


@pytest.mark.campaign
@pytest.mark.usefixtures("spark")
def test_kills_at_all_points_change_nothing_twice(place: Place, tmp_path: Path) -> None:
    names = list(STATEMENTS)
    replay = prepare(place, tmp_path, 2 * (KILLS // len(names) + len(POINTS)) + 1)
    for number in range(KILLS):
        name, point = names[number // len(POINTS) % len(names)], POINTS[number % len(POINTS)]
        kill(place, tmp_path, name, point)
    finish(place, tmp_path, replay)


@pytest.mark.usefixtures("spark")
def test_a_second_process_on_one_checkpoint_is_refused(postgres: Place, tmp_path: Path) -> None:
    replay = prepare(postgres, tmp_path, 3)
    with stopped(tmp_path, "before", "go", *ALL) as process:
        wait_until_reached(tmp_path, process)
        refused = penstock_here(tmp_path, "run", "--once", "--checkpoint", "state", *ALL)
        (tmp_path / "go").touch()
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, told
    assert refused.exit_code == 3
    assert "error[R012]" in refused.output
    finish(postgres, tmp_path, replay)


@pytest.mark.usefixtures("spark")
def test_a_process_that_was_taken_for_dead_writes_nothing_more(postgres: Place, tmp_path: Path) -> None:
    """The other one runs from a copy of the checkpoint, on another machine as it were."""
    replay = prepare(postgres, tmp_path, 3)
    with stopped(tmp_path, "before", "go", *ALL, checkpoint="lost") as process:
        wait_until_reached(tmp_path, process)
        shutil.copytree(tmp_path / "lost", tmp_path / "state")
        for lock in (tmp_path / "state").rglob("*lock*"):
            lock.unlink()
        finish(postgres, tmp_path, replay)
        (tmp_path / "go").touch()
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3
    assert "error[R062]" in told
    finish(postgres, tmp_path, replay)


@MOSTLY_POSTGRES
@pytest.mark.usefixtures("spark")
def test_an_older_checkpoint_is_refused(place: Place, tmp_path: Path) -> None:
    replay = prepare(place, tmp_path, 2)
    finish(place, tmp_path, replay)
    shutil.copytree(tmp_path / "state", tmp_path / "backup")
    op = {"id": 1, "name": "z", "n": 6}
    put_file(tmp_path, 2, [op])
    replay.apply(op)
    finish(place, tmp_path, replay)
    shutil.rmtree(tmp_path / "state")
    (tmp_path / "backup").rename(tmp_path / "state")
    refused = penstock_here(tmp_path, "run", "--once", "--checkpoint", "state", *ALL)
    assert refused.exit_code == 3
    assert "error[R063]" in refused.output
    for name in STATEMENTS:
        rows = sorted((key, row["name"], row["n"]) for key, row in replay.tables[name].items())
        assert sorted(place.rows(f"SELECT id, name, n FROM {name}")) == rows, name


@pytest.mark.usefixtures("spark")
def test_updates_that_read_need_a_checkpoint(postgres: Place, tmp_path: Path) -> None:
    prepare(postgres, tmp_path, 1)
    refused = penstock_here(tmp_path, "run", "--once", *ALL)
    assert refused.exit_code == 3
    assert "error[R065]" in refused.output
    assert sorted(postgres.rows("SELECT id, n FROM puts")) == [(key, key) for key in BEFORE]
