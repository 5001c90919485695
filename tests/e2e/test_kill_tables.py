"""Queries over tables killed in the middle, again and again: their tables end as those of an undisturbed run."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from penstock.codegen.program import DELETE, INSERT, UPDATE
from tests.e2e.shell import LOCAL, penstock, write
from tests.e2e.test_kill import kill_at, newest

KILLS = int(os.environ.get("PENSTOCK_KILLS", "4"))
"""Of each query. Each starts a JVM, so that this takes minutes."""
pytestmark = [pytest.mark.spark, pytest.mark.campaign]
FILES = KILLS + 6
DECLARED = """SET state_partitions = 2;
CREATE TABLE t (id BIGINT PRIMARY KEY, g STRING, v BIGINT)
WITH (connector = 'files', path = '../t', format = 'json', operation = 'op', files_per_batch = 1);
CREATE TABLE u (id BIGINT PRIMARY KEY, g STRING, v BIGINT)
WITH (connector = 'files', path = '../u', format = 'json', operation = 'op', files_per_batch = 1);
CREATE STREAM s (id BIGINT KEY, v BIGINT)
WITH (connector = 'files', path = '../s', format = 'json', files_per_batch = 1);
"""
JOINED = "SELECT COALESCE(t.id, u.id) AS id, t.v AS v, u.g AS g FROM t FULL JOIN u ON t.id = u.id"
TABLES = {
    "groups": ("g", "SELECT g, COUNT(*) AS n, SUM(v) AS v FROM t GROUP BY g"),
    "joined": ("id", JOINED),
    "chain": ("g", f"SELECT g, COUNT(*) AS n, SUM(v) AS v FROM ({JOINED}) x GROUP BY g"),
    "referring": ("id", "SELECT t.id AS id, t.v AS v, u.v AS w FROM t LEFT JOIN u ON t.v = u.id"),
}
SEEN = "SELECT STREAM s.v AS number, t.v AS v, t.g AS g FROM s LEFT JOIN t ON s.id = t.id"


def written(name: str, sql: str) -> str:
    kind, more = ("STREAM", "") if name == "seen" else ("TABLE", ", operation = 'op'")
    return f"CREATE {kind} {name} WITH (connector = 'files', path = '{name}', format = 'json'{more}) AS {sql};"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A file of changes of each table, and one of the stream, for each micro-batch."""
    chance = random.Random(5)

    def change() -> dict[str, object]:
        row = {"id": chance.randrange(8), "g": chance.choice("abc"), "v": chance.randrange(10)}
        return {**row, "op": chance.choice(["insert", "update", "update", "delete"])}

    files: dict[str, list[object]] = {}
    for number in range(FILES):
        for name in "tu":
            files[f"{name}/{number:02d}.json"] = [change() for _ in range(5)]
        files[f"s/{number:02d}.json"] = [{"id": chance.randrange(8), "v": 10 * number + n} for n in range(4)]
    write(tmp_path, files)
    scripts = {f"{name}.sql": written(name, sql) for name, (_, sql) in TABLES.items()}
    for run in ("killed", "undisturbed"):
        write(tmp_path / run, {"declared.sql": DECLARED, "seen.sql": written("seen", SEEN), **scripts})
    for number in range(FILES):
        for path in tmp_path.glob(f"[tus]/{number:02d}.json"):
            os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    return tmp_path


def lines(folder: Path) -> list[list[dict[str, Any]]]:
    """The rows of the finished micro-batches of a files sink, those of each together."""
    batches: list[list[dict[str, Any]]] = []
    log = folder / "_spark_metadata"
    known: set[str] = set()
    for number in range(newest(log) + 1):
        entry = next(path for path in (log / f"{number}.compact", log / str(number)) if path.exists())
        added = [json.loads(line)["path"] for line in entry.read_text().splitlines()[1:]]
        fresh = [path for path in added if path not in known]
        known.update(fresh)
        texts = (Path(path.removeprefix("file://")).read_text() for path in fresh)
        batches.append([json.loads(line) for text in texts for line in text.splitlines()])
    return batches


def table(folder: Path, key: str) -> dict[Any, dict[str, Any]]:
    """What the changes come to; each has to fit to what is there."""
    rows: dict[Any, dict[str, Any]] = {}
    for batch in lines(folder):
        for change in batch:
            row = {name: value for name, value in change.items() if name != "op"}
            assert (row[key] in rows) == (change["op"] != INSERT), change
            match change["op"]:
                case str(word) if word in (INSERT, UPDATE):
                    rows[row[key]] = row
                case str(word) if word == DELETE:
                    assert rows.pop(row[key]) == row
                case word:
                    raise AssertionError(word)
    return rows


def test_tables_of_killed_queries_end_as_those_of_others(root: Path) -> None:
    names = (*TABLES, "seen")
    last = ("run", "--once", *LOCAL, "--checkpoint", "state", "declared.sql", *(f"{name}.sql" for name in names))
    undisturbed = penstock(root / "undisturbed", *last)
    assert undisturbed.returncode == 0, undisturbed.stderr
    folder, unfinished = root / "killed", 0
    for number in range(KILLS):
        for place, name in enumerate(names):
            # What the first query of several writes, the next one reads in one micro-batch.
            is_staged = (root / "undisturbed" / "state" / f"{name}_intermediate1").exists()
            part = f"{name}_intermediate1" if is_staged and number < KILLS - 1 else name
            checkpoint = folder / "state" / part
            log = ("offsets", "commits")[(number + place) % 2]
            kill_at(folder, name, checkpoint / log / str(newest(checkpoint / "offsets") + 1))
            unfinished += newest(checkpoint / "offsets") > newest(checkpoint / "commits")
    assert unfinished > 0
    ended = penstock(folder, *last)
    assert ended.returncode == 0, ended.stderr
    for name, (key, _) in TABLES.items():
        expected = table(root / "undisturbed" / name, key)
        assert expected
        assert table(folder / name, key) == expected, name
    # A file that was listed before a kill goes into the micro-batch after it, with the next one: on that depends what a
    # row meets in the table, and not that it comes out, once.
    found = Counter(row["number"] for batch in lines(root / "killed" / "seen") for row in batch)
    assert found == Counter(10 * number + n for number in range(FILES) for n in range(4))
