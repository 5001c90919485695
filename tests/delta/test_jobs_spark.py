"""A job leaves the same tables of Delta Lake as `penstock run`, and writes nothing when it runs again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.delta.lakes import list_actions, read_by_hand
from tests.e2e.shell import accounts
from tests.e2e.test_jobs import ONE_BY_ONE, Place, alone, run_alone

__all__ = ["alone"]
pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

SCRIPT = """
CREATE STREAM ops (id BIGINT, name STRING, n BIGINT, tags ARRAY<STRING>)
  WITH (connector = 'files', path = 'ops', format = 'json', files_per_batch = 1);
CREATE STREAM kept WITH (connector = 'delta', path = 'lake/kept', create = 'if_missing', partition_by = 'name') AS
  SELECT STREAM id, name, tags FROM ops WHERE n > 0;
CREATE TABLE sums WITH (connector = 'delta', path = 'lake/sums', create = 'if_missing') AS
  SELECT name, SUM(n) AS n FROM ops GROUP BY name HAVING SUM(n) < 10;
CREATE TABLE whole WITH (connector = 'delta', path = 'lake/whole', create = 'if_missing') AS
  SELECT COUNT(*) AS n FROM ops;
CREATE TABLE puts (id BIGINT PRIMARY KEY, name STRING)
  WITH (connector = 'delta', path = 'lake/puts', create = 'if_missing');
CREATE TABLE gone (id BIGINT PRIMARY KEY, name STRING) WITH (connector = 'delta', path = 'lake/gone');
CREATE STREAM followed (id BIGINT, name STRING) WITH (connector = 'delta', path = 'lake/given');
CREATE STREAM copied WITH (connector = 'delta', path = 'lake/copied', create = 'if_missing') AS
  SELECT STREAM id, name FROM followed;
INSERT INTO puts SELECT STREAM id, name FROM ops;
DELETE FROM gone USING ops AS o WHERE gone.id = o.id AND o.n > 6;
"""
_FILES: dict[int, list[tuple[int | None, str | None, int, list[str | None] | None]]] = {
    1: [(1, "a", 1, ["x", None]), (2, "b", 7, None), (1, None, 3, [])],
    2: [(5, "b", 9, ["y"]), (None, "e", 2, None), (1, "f", -1, None)],
}
OPS: dict[str, list[object]] = {
    f"ops/{file}.json": [{"id": id_, "name": name, "n": n, "tags": tags} for id_, name, n, tags in rows]
    for file, rows in _FILES.items()
}
LEFT: dict[str, list[dict[str, Any]]] = {
    "kept": [
        {"id": 1, "name": "a", "tags": ["x", None]},
        {"id": 1, "name": None, "tags": []},
        {"id": 2, "name": "b", "tags": None},
        {"id": 5, "name": "b", "tags": ["y"]},
        {"id": None, "name": "e", "tags": None},
    ],
    "sums": [{"name": "a", "n": 1}, {"name": "e", "n": 2}, {"name": "f", "n": -1}, {"name": None, "n": 3}],
    "whole": [{"n": 6}],
    "puts": [{"id": 1, "name": "f"}, {"id": 2, "name": "b"}, {"id": 5, "name": "b"}],
    "gone": [{"id": 1, "name": "u1"}],
    "copied": [{"id": 1, "name": "u1"}, {"id": 2, "name": "u2"}],
}


def read_lake(folder: Path) -> dict[str, list[dict[str, Any]]]:
    return {name: sorted(read_by_hand(folder / "lake" / name), key=repr) for name in LEFT}


def test_the_job_leaves_the_tables_of_a_run(tmp_path: Path, alone: Mapping[str, str]) -> None:
    """The job runs twice in one process. The second time there is nothing to do."""
    place = Place(tmp_path)
    # Workers read it, and a process of a test has begun elsewhere.
    given = tmp_path / "given"
    place.give({**OPS, "script.sql": SCRIPT.replace("lake/given", str(given))})
    rows = pa.table({"id": [1, 2], "name": ["u1", "u2"]})
    write_deltalake(given, rows, configuration={"delta.enableChangeDataFeed": "true"})
    for side in ("run", "compiled"):
        write_deltalake(tmp_path / side / "lake" / "gone", rows)
    in_penstock = place.run("--checkpoint", "state")
    jobs = [(str(place.compile()), ("--once", "--checkpoint", "state"))] * 2
    output = run_alone(alone, tmp_path, "-c", ONE_BY_ONE, json.dumps(jobs))
    _, first, second = output.split("job in ")
    assert accounts(first) == in_penstock
    assert all(sum(counts) == 0 for counts in accounts(second).values())
    left = read_lake(tmp_path / "run")
    assert left == {name: sorted(rows, key=repr) for name, rows in LEFT.items()}
    assert read_lake(tmp_path / "compiled") == left
    for side in ("run", "compiled"):
        notes = [each.get("commitInfo", {}).get("penstock", {}) for each in list_actions(tmp_path / side / "lake/kept")]
        assert [each["batch"] for each in notes if "batch" in each] == [0, 1]
        assert len(read_by_hand(tmp_path / side / "lake" / "puts_rejected")) == 1
