"""A job leaves the same database as `penstock run`: puts, updates, deletes, lookups and rejected rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.shell import accounts
from tests.e2e.test_jobs import ONE_BY_ONE, Place, alone, run_alone

__all__ = ["alone"]
pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

TABLES = ("users", "puts", "names", "sums", "known", "gone", "shown")
SCRIPT = """
CREATE STREAM ops (id BIGINT, name STRING, n BIGINT)
  WITH (connector = 'files', path = 'ops', format = 'json', files_per_batch = 1);
""" + "".join(
    f"CREATE TABLE {name} (id BIGINT PRIMARY KEY, name STRING, n BIGINT) "
    f"WITH (connector = 'sqlite', path = 'shop.db', table = '{name}');\n"
    for name in TABLES
)
SCRIPT += """
INSERT INTO puts SELECT STREAM id, name, n FROM ops WHERE n > 0;
UPDATE names SET name = o.name FROM ops AS o WHERE names.id = o.id ELSE INSERT (n) VALUES (o.n);
UPDATE sums SET n = sums.n * 2 + o.n FROM ops AS o WHERE sums.id = o.id ELSE INSERT (n) VALUES (100);
UPDATE known SET n = known.n + 1, name = o.name FROM ops AS o WHERE known.id = o.id;
DELETE FROM gone USING ops AS o WHERE gone.id = o.id AND o.n > 5;
INSERT INTO shown SELECT STREAM o.n AS id, u.name, u.n FROM ops o LEFT JOIN users u ON u.id = o.id AND u.n > 1;
"""
OPS: dict[str, list[object]] = {
    "ops/1.json": [{"id": id_, "name": name, "n": n} for id_, name, n in ((1, "a", 1), (2, "b", 7), (1, "c", 3))],
    "ops/2.json": [{"id": id_, "name": name, "n": n} for id_, name, n in ((5, "d", 9), (None, "e", 2), (1, "f", -1))],
}
LEFT = {
    "users": [(0, "u0", 0), (1, "u1", 1), (2, "u2", 2)],
    "puts": [(0, "u0", 0), (1, "c", 3), (2, "b", 7), (5, "d", 9)],
    "names": [(0, "u0", 0), (1, "f", 1), (2, "b", 2), (5, "d", 9)],
    "sums": [(0, "u0", 0), (1, "u1", 2 * (2 * (2 * 1 + 1) + 3) - 1), (2, "u2", 11), (5, None, 209)],
    "known": [(0, "u0", 0), (1, "f", 4), (2, "b", 3)],
    "gone": [(0, "u0", 0), (1, "u1", 1)],
    "shown": [(-1, None, None), (0, "u0", 0), *((key, None, None) for key in (1, 2, 3)), (7, "u2", 2), (9, None, None)],
}
NO_KEY, NO_ROW = "no primary key", "the table has no row of this key"
REJECTED = {
    "puts": [(NO_KEY, {"id": None, "name": "e", "n": 2})],
    "names": [(NO_KEY, {"id": None, "name": "e", "n": 2})],
    "sums": [(NO_KEY, {"id": None, "n": 2})],
    "known": [(NO_KEY, {"id": None, "name": "e"}), (NO_ROW, {"id": 5, "name": "d"})],
    "gone": [],
}


def make_tables(folder: Path) -> None:
    """Each table with three rows."""
    connection = sqlite3.connect(folder / "shop.db")
    for name in TABLES:
        connection.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, name TEXT, n INTEGER)")
        connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", [(k, f"u{k}", k) for k in range(3)])
    connection.commit()
    connection.close()


def read_tables(folder: Path) -> dict[str, list[Any]]:
    """All tables of the database, with what must be the same in each process of the rejected rows and the ledger."""
    connection = sqlite3.connect(folder / "shop.db")
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    columns = dict.fromkeys(TABLES, "*") | {"penstock_ledger": "sink, batch, rows"}
    rows = {
        name: sorted(connection.execute(f"SELECT {columns.get(name, 'batch, reason, record')} FROM {name}").fetchall())
        for name in names
    }
    connection.close()
    return rows


def test_the_job_leaves_the_database_of_a_run(tmp_path: Path, alone: Mapping[str, str]) -> None:
    """The job runs twice in one process. The second time there is nothing to do."""
    place = Place(tmp_path)
    place.give({**OPS, "script.sql": SCRIPT})
    for side in ("run", "compiled"):
        make_tables(tmp_path / side)
    in_penstock = place.run("--checkpoint", "state")
    jobs = [(str(place.compile()), ("--once", "--checkpoint", "state"))] * 2
    output = run_alone(alone, tmp_path, "-c", ONE_BY_ONE, json.dumps(jobs))
    _, first, second = output.split("job in ")
    assert accounts(first) == in_penstock
    # Rows without a key are used: the table rejects them.
    assert in_penstock["sums", "ops"] == [6, 0, 0, 0, 6, 6]
    assert all(sum(counts) == 0 for counts in accounts(second).values())
    left = read_tables(tmp_path / "run")
    assert {name: left[name] for name in TABLES} == LEFT
    assert {
        name: [(reason, json.loads(record)) for _, reason, record in left.get(f"{name}_rejected", [])]
        for name in REJECTED
    } == REJECTED
    assert read_tables(tmp_path / "compiled") == left
