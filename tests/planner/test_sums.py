"""Which updates a database can do by itself: those that add to the present row, and cannot fail."""

from __future__ import annotations

import pytest

import penstock
from penstock.planner.plan import ColumnSums

TABLES = """
CREATE STREAM s (id BIGINT, i INT, b BIGINT, m DECIMAL(18, 2), w DECIMAL(38, 2), f DOUBLE, name STRING)
  WITH (connector = 'files', path = 'in', format = 'json');
CREATE TABLE t (id BIGINT PRIMARY KEY, i INT, b BIGINT, m DECIMAL(18, 2), w DECIMAL(38, 2), f DOUBLE, name STRING)
  WITH (connector = 'postgres', url = 'postgresql://db', table = 't');
"""


def find(assignments: str, default: str = "") -> ColumnSums | None:
    sql = f"{TABLES} UPDATE t SET {assignments} FROM s WHERE t.id = s.id {default}"
    (query,) = penstock.compile(sql).program.queries
    assert query.change is not None
    return query.change.sums


@pytest.mark.parametrize(
    ("assignments", "default", "sums"),
    [
        ("b = t.b + s.b", "", ColumnSums((("b", "b"),))),
        ("b = s.i + t.b, i = t.i - s.i", "", ColumnSums((("b", "_add.b"),), (("i", "i"),), computed=("_add.b",))),
        (
            "i = t.i + 1, name = s.name",
            "",
            ColumnSums((("i", "_add.i"),), (), (("name", "name"),), computed=("_add.i",)),
        ),
        (
            "m = t.m + s.m, name = UPPER(s.name)",
            "ELSE INSERT (m, i) VALUES (0, s.i)",
            ColumnSums(
                (("m", "m"),), (), (("name", "_set.name"),), (("m", "_else.m"), ("i", "i")), ("_set.name", "_else.m")
            ),
        ),
        (
            "b = t.b + CASE WHEN s.name = 'x' THEN 1 ELSE 0 END",
            "ELSE INSERT (b) VALUES (0)",
            ColumnSums((("b", "_add.b"),), inserted=(("b", "_else.b"),), computed=("_add.b", "_else.b")),
        ),
    ],
)
def test_sums(assignments: str, default: str, sums: ColumnSums) -> None:
    assert find(assignments, default) == sums


@pytest.mark.parametrize(
    "assignments",
    [
        "b = s.b",  # reads nothing
        "b = t.b * 2",
        "b = s.b - t.b",
        "b = t.i + s.b",
        "b = t.b + t.i",
        "b = t.b + s.b, i = t.i * 2",
        "b = COALESCE(t.b, 0) + s.b",
        "b = t.b + s.b % s.i",  # may fail
        "b = t.b + s.b, name = t.name",
        "b = t.b + s.b, i = CAST(s.name AS INT)",
        "f = t.f + s.f",  # depends on the order
        "w = t.w + s.w",  # may be rounded
    ],
)
def test_other_updates_read_the_row(assignments: str) -> None:
    assert find(assignments) is None


def test_a_default_that_may_fail_is_computed_where_it_is_needed() -> None:
    assert find("b = t.b + s.b", "ELSE INSERT (b) VALUES (s.b % s.i)") is None


def test_columns_of_the_stream_are_shown_in_rejected_rows() -> None:
    """Also one whose name begins as those of computed columns do."""
    sql = f"{TABLES} UPDATE t SET b = t.b + _add.id, i = t.i + 1 FROM s AS _add WHERE t.id = _add.id"
    (query,) = penstock.compile(sql).program.queries
    assert query.change is not None
    assert query.change.sums == ColumnSums((("b", "_add.id"), ("i", "_add.i")), computed=("_add.i",))
