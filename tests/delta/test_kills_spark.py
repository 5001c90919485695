"""Queries that write tables of Delta Lake, killed at named points and started again: each micro-batch is there once."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.databases.stopped import POINTS, REACHED
from tests.databases.test_kills_spark import PATIENCE, stopped, wait_until_reached
from tests.databases.test_statements import put_file
from tests.delta.lakes import list_actions, read_by_hand
from tests.e2e.shell import LOCAL, penstock_here, write
from tests.e2e.test_kill import newest

pytestmark = pytest.mark.spark

KILLS = min(int(os.environ.get("PENSTOCK_TABLE_KILLS", "4")), 12)
DECLARED = """
CREATE STREAM ops (id BIGINT, name STRING, n BIGINT)
  WITH (connector = 'files', path = 'ops', format = 'json', files_per_batch = 1);
CREATE STREAM kept (id BIGINT, name STRING, n BIGINT)
  WITH (connector = 'delta', path = 'lake/kept', create = 'if_missing', partition_by = 'name');
CREATE TABLE puts (id BIGINT PRIMARY KEY, name STRING, n BIGINT)
  WITH (connector = 'delta', path = 'lake/puts', create = 'if_missing');
"""
STATEMENTS = {
    "kept": "INSERT INTO kept SELECT STREAM id, name, n FROM ops;",
    "puts": "INSERT INTO puts SELECT STREAM id, name, n FROM ops;",
    "sums": """CREATE TABLE sums WITH (connector = 'delta', path = 'lake/sums', create = 'if_missing') AS
        SELECT name, SUM(n) AS n, COUNT(*) AS times FROM ops GROUP BY name HAVING SUM(n) > -9;""",
}
ALL = ("declared.sql", *(f"{name}.sql" for name in STATEMENTS))


@dataclass
class Replay:
    """What the tables must come to."""

    kept: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    puts: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    rejected: int = 0
    sums: Counter[str] = field(default_factory=Counter)

    def apply(self, op: dict[str, Any]) -> None:
        row = (op["id"], op["name"], op["n"])
        self.kept[row] += 1
        self.sums[op["name"]] += op["n"]
        if op["id"] is None:
            self.rejected += 1
        else:
            self.puts[op["id"]] = row


def prepare(folder: Path, files: int) -> Replay:
    """Scripts and files of a stream in a folder."""
    write(folder, {"declared.sql": DECLARED, **{f"{name}.sql": text for name, text in STATEMENTS.items()}})
    replay, draw = Replay(), random.Random(3)
    for number in range(files):
        add_file(folder, replay, number, draw)
    return replay


def add_file(folder: Path, replay: Replay, number: int, draw: random.Random) -> None:
    ops = [
        {"id": draw.choice([*range(8), None]), "name": draw.choice("abc"), "n": draw.randint(-9, 9)} for _ in range(6)
    ]
    put_file(folder, number, ops)
    for op in ops:
        replay.apply(op)


def written(folder: Path, name: str) -> list[int]:
    """The micro-batches that the log of a table has, in the order of its commits."""
    noted = [action["commitInfo"]["penstock"] for action in list_actions(folder / "lake" / name) if has_notes(action)]
    return [each["batch"] for each in noted if "batch" in each]


def has_notes(action: dict[str, Any]) -> bool:
    return "penstock" in action.get("commitInfo", {})


def kill(folder: Path, name: str, point: str) -> None:
    """Kills a run of one query in its second micro-batch, at a point."""
    with stopped(folder, point, "kill", "declared.sql", f"{name}.sql") as process:
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL, told
    batch = int((folder / REACHED).read_text())
    assert newest(folder / "state" / name / "offsets") == batch
    assert newest(folder / "state" / name / "commits") == batch - 1
    known = written(folder, name)
    assert (batch in known) == (point == "after")
    assert batch - 1 in known


def compare(folder: Path, replay: Replay) -> None:
    """Compares the tables, as their logs have them, with the replay."""
    lake = folder / "lake"
    assert Counter((row["id"], row["name"], row["n"]) for row in read_by_hand(lake / "kept")) == replay.kept
    assert sorted((row["id"], row["name"], row["n"]) for row in read_by_hand(lake / "puts")) == sorted(
        replay.puts.values()
    )
    sums = {name: n for name, n in replay.sums.items() if n > -9}
    assert {row["name"]: row["n"] for row in read_by_hand(lake / "sums")} == sums
    assert len(read_by_hand(lake / "sums")) == len(sums)
    assert len(read_by_hand(lake / "puts_rejected")) == replay.rejected
    for name in STATEMENTS:
        assert written(folder, name) == sorted(set(written(folder, name))), name


def finish(folder: Path, replay: Replay) -> None:
    """Runs all queries to their end, and compares the tables."""
    ended = penstock_here(folder, "run", "--once", "--checkpoint", "state", *ALL)
    assert ended.exit_code == 0, ended.output
    compare(folder, replay)


READ = """
import sys
import pyarrow.dataset
from deltalake import DeltaTable
table = DeltaTable(sys.argv[1])
rows = pyarrow.dataset.dataset(table.file_uris(), partitioning=None).to_table().to_pylist()
print(sum(row["n"] for row in rows), len(rows))
"""


@pytest.mark.usefixtures("spark")
def test_a_kill_after_commit_writes_nothing_twice(tmp_path: Path) -> None:
    """Afterwards another process reads the files that deltalake lists, an older checkpoint is refused."""
    replay = prepare(tmp_path, 3)
    kill(tmp_path, "kept", "after")
    finish(tmp_path, replay)
    read = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path / "lake" / "kept")], capture_output=True, text=True, check=True
    )
    assert read.stdout.split() == [str(sum(n * count for (_, _, n), count in replay.kept.items())), "18"]
    shutil.copytree(tmp_path / "state", tmp_path / "backup")
    add_file(tmp_path, replay, 3, random.Random(8))
    finish(tmp_path, replay)
    shutil.rmtree(tmp_path / "state")
    (tmp_path / "backup").rename(tmp_path / "state")
    refused = penstock_here(tmp_path, "run", "--once", "--checkpoint", "state", *ALL)
    assert refused.exit_code == 3
    assert "error[R063]" in refused.output
    asked = "SELECT COUNT(*) AS rows, SUM(n) AS n FROM puts"
    answer = penstock_here(tmp_path, "query", "--format", "json", "declared.sql", asked)
    total = sum(n for _, _, n in replay.puts.values())
    assert answer.output.strip() == f'{{"rows": {len(replay.puts)}, "n": {total}}}'


@pytest.mark.campaign
@pytest.mark.usefixtures("spark")
def test_kills_at_all_points_write_nothing_twice(tmp_path: Path) -> None:
    names = list(STATEMENTS)
    replay = prepare(tmp_path, 2 * (KILLS // len(names) + len(POINTS)) + 1)
    for number in range(KILLS):
        kill(tmp_path, names[number // len(POINTS) % len(names)], POINTS[number % len(POINTS)])
    finish(tmp_path, replay)


@pytest.mark.usefixtures("spark")
def test_a_process_that_was_taken_for_dead_writes_nothing_more(tmp_path: Path) -> None:
    """The other one runs from a copy of the checkpoint, on another machine as it were."""
    replay = prepare(tmp_path, 3)
    with stopped(tmp_path, "before", "go", *ALL, checkpoint="lost") as process:
        wait_until_reached(tmp_path, process)
        shutil.copytree(tmp_path / "lost", tmp_path / "state")
        for lock in (tmp_path / "state").rglob("*lock*"):
            lock.unlink()
        finish(tmp_path, replay)
        (tmp_path / "go").touch()
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3, LOCAL
    assert "error[R062]" in told
    compare(tmp_path, replay)
