"""Rows that no condition lets through are filtered, also where the condition is behind UNNEST, lookups and joins."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

import penstock
from penstock.runtime import RuntimeSession

pytestmark = pytest.mark.spark

ROWS = [
    {"id": 1, "k": "x", "n": 1, "tags": ["a", "b"], "m": {"p": 1}, "at": "2026-01-01T10:00:00Z"},
    {"id": 2, "k": "y", "n": 5, "tags": ["c"], "m": {"p": 7}, "at": "2026-01-01T10:00:01Z"},
    {"id": 3, "k": "z", "n": 9, "tags": [], "m": {}, "at": "2026-01-01T10:00:02Z"},
    {"id": 4, "k": "x", "n": 9, "tags": None, "m": None, "at": "2026-01-01T10:00:03Z"},
]
OTHERS = [
    {"id": 1, "w": 1, "at": "2026-01-01T10:00:00Z"},
    {"id": 2, "w": 2, "at": "2026-01-01T10:00:01Z"},
    {"id": 3, "w": 9, "at": "2026-01-01T10:00:02Z"},
]
NEAR = "a.id = b.id AND b.at BETWEEN a.at AND a.at + INTERVAL '1' MINUTE"
# The query, and for each input how many of its rows are filtered.
QUERIES: dict[str, tuple[str, dict[str, int]]] = {
    "element": ("SELECT STREAM id, e FROM a CROSS JOIN UNNEST(tags) AS u(e) WHERE e > 'a'", {"a": 2}),
    "element_and_row": ("SELECT STREAM id, e FROM a CROSS JOIN UNNEST(tags) AS u(e) WHERE e > 'a' AND n > 1", {"a": 3}),
    "row": ("SELECT STREAM id, e FROM a CROSS JOIN UNNEST(tags) AS u(e) WHERE n > 1", {"a": 1}),
    "unfiltered": ("SELECT STREAM id, e FROM a CROSS JOIN UNNEST(tags) AS u(e)", {"a": 0}),
    "place_of_element": (
        "SELECT STREAM id, e FROM a CROSS JOIN UNNEST(tags) WITH ORDINALITY AS u(e, p) WHERE p = 2",
        {"a": 3},
    ),
    "entry": ("SELECT STREAM id, v FROM a CROSS JOIN UNNEST(m) AS u(k2, v) WHERE v > 3 AND k2 = 'p'", {"a": 3}),
    "outer": ("SELECT STREAM id, e FROM a LEFT JOIN UNNEST(tags) AS u(e) ON TRUE WHERE e IS NULL", {"a": 2}),
    "two_lists": (
        "SELECT STREAM id, e, f FROM a CROSS JOIN UNNEST(tags) AS u(e) CROSS JOIN UNNEST(tags) AS w(f) WHERE e < f",
        {"a": 3},
    ),
    "lookup": ("SELECT STREAM a.id, t.v FROM a LEFT JOIN t ON t.k = a.k WHERE a.n > 1", {"a": 1}),
    "looked_up": ("SELECT STREAM a.id, t.v FROM a LEFT JOIN t ON t.k = a.k WHERE t.v > 5", {"a": 3}),
    "both": ("SELECT STREAM a.id, t.v FROM a LEFT JOIN t ON t.k = a.k WHERE t.v > 5 AND a.n > 5", {"a": 4}),
    "kept_table": (
        "SELECT STREAM a.id, f.v FROM a LEFT JOIN f ON f.k = a.k WHERE f.v > 5 AND a.n > 1",
        {"a": 3, "f": 0},
    ),
    "left_join": (f"SELECT STREAM a.id, b.w FROM a LEFT JOIN b ON {NEAR} WHERE a.n > 1", {"a": 1, "b": 0}),
    "both_sides": (f"SELECT STREAM a.id, b.w FROM a LEFT JOIN b ON {NEAR} WHERE a.n > 1 AND b.w > 1", {"a": 1, "b": 1}),
    "semi_join": (f"SELECT STREAM a.id FROM a LEFT SEMI JOIN b ON {NEAR} WHERE a.n > 1", {"a": 1, "b": 0}),
}


def test_what_no_condition_lets_through_is_filtered(session: RuntimeSession, tmp_path: Path) -> None:
    for name, rows in (("a", ROWS), ("b", OTHERS), ("f", [{"k": "x", "v": 3}, {"k": "y", "v": 7}])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.json").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with sqlite3.connect(tmp_path / "t.db") as database:
        database.execute("CREATE TABLE t (k TEXT PRIMARY KEY, v BIGINT)")
        database.executemany("INSERT INTO t VALUES (?, ?)", [("x", 3), ("y", 7)])
    script = f"""
    CREATE STREAM a (id INT KEY, k STRING, n INT, tags ARRAY<STRING>, m MAP<STRING, INT>, at TIMESTAMP,
      WATERMARK FOR at AS at) WITH (connector = 'files', path = '{tmp_path}/a', format = 'json');
    CREATE STREAM b (id INT KEY, w INT, at TIMESTAMP, WATERMARK FOR at AS at)
      WITH (connector = 'files', path = '{tmp_path}/b', format = 'json');
    CREATE TABLE f (k STRING PRIMARY KEY, v BIGINT)
      WITH (connector = 'files', path = '{tmp_path}/f', format = 'json');
    CREATE TABLE t (k STRING PRIMARY KEY, v BIGINT)
      WITH (connector = 'sqlite', path = '{tmp_path}/t.db', table = 't');
    """
    script += "".join(f"CREATE STREAM {name} AS {query};\n" for name, (query, _) in QUERIES.items())
    reports = session.run_once(penstock.compile(script).program, drain=True)
    found = {each.name: {part.name: part.filtered for part in each.inputs} for each in reports}
    assert found == {name: filtered for name, (_, filtered) in QUERIES.items()}
    for report in reports:
        for part in report.inputs:
            assert part.read == part.rejected + part.late + part.filtered + part.used, (report.name, part)
            assert part.used >= 0
