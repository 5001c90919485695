"""The join matrix: nine cells by six kinds, as the semantics have it."""

from __future__ import annotations

from itertools import product

import pytest

import penstock
from penstock.diagnostics import CompileError, Diagnostic

RELATIONS = """
CREATE STREAM events (k BIGINT KEY, x INT, time TIMESTAMP, WATERMARK FOR time AS time - 1 MIN)
WITH (connector = 'files', path = 'data/events', format = 'json');
CREATE VIEW stream_a AS SELECT STREAM * FROM events;
CREATE VIEW stream_b AS SELECT STREAM * FROM events;
CREATE VIEW table_a AS SELECT k, MAX(time) AS last FROM events WHERE k IS NOT NULL GROUP BY k;
CREATE VIEW table_b AS SELECT k, COUNT(*) AS n FROM events WHERE k IS NOT NULL GROUP BY k;
CREATE VIEW windowed_a AS SELECT k, COUNT(*) AS n FROM events WHERE k IS NOT NULL
GROUP BY k, TUMBLE(time, 1 HOUR) RETENTION 1 DAY;
CREATE VIEW windowed_b AS SELECT k, COUNT(*) AS n FROM events WHERE k IS NOT NULL
GROUP BY k, TUMBLE(time, 1 HOUR) RETENTION 1 DAY;
"""
WORDS = {
    "I": "INNER JOIN",
    "L": "LEFT JOIN",
    "R": "RIGHT JOIN",
    "F": "FULL JOIN",
    "S": "LEFT SEMI JOIN",
    "A": "LEFT ANTI JOIN",
}
# Rows are left, columns right; the letters are the kinds that mean something.
MATRIX = {
    ("stream", "stream"): "ILRFSA",
    ("stream", "table"): "ILSA",
    ("stream", "windowed"): "L",
    ("table", "stream"): "",
    ("table", "table"): "ILRFSA",
    ("table", "windowed"): "L",
    ("windowed", "stream"): "",
    ("windowed", "table"): "L",
    ("windowed", "windowed"): "ILRF",
}
# The cells that this version runs.
BUILT = [
    *(("stream", "stream"), ("stream", "table"), ("stream", "windowed")),
    *(("table", "table"), ("table", "windowed"), ("windowed", "table"), ("windowed", "windowed")),
]


def outcome(left: str, right: str, kind: str, bound: str = "") -> str:
    """`accepted`, or the code of the only error."""
    stream = "STREAM " if left == "stream" else ""
    key = {"R": "b.k", "F": "COALESCE(a.k, b.k) AS k"}.get(kind, "a.k")
    joined = f"SELECT {stream}{key} FROM {left}_a a {WORDS[kind]} {right}_b b ON a.k = b.k{bound}"
    # Windows that meet windows are not looked up.
    relations = RELATIONS.replace(" RETENTION 1 DAY", "") if left == right == "windowed" else RELATIONS
    try:
        assert penstock.compile(relations + joined).program.queries
    except penstock.CompileError as refusal:
        (only,) = refusal.diagnostics
        return only.code
    return "accepted"


@pytest.mark.parametrize(("left", "right", "kind"), [(*cell, kind) for cell, kind in product(MATRIX, WORDS)])
def test_cell(left: str, right: str, kind: str) -> None:
    is_built = (left, right) in BUILT
    expected = "J011" if kind not in MATRIX[left, right] else "accepted" if is_built else "B003"
    bound = " AND b.time BETWEEN a.time AND a.time + 5 MIN" if left == right == "stream" else ""
    if right == "windowed" and left != "windowed":
        bound = f" AND b.window_start = a.{'time' if left == 'stream' else 'last'}"
    # The right columns are not there after SEMI and ANTI, those of ON are.
    assert outcome(left, right, kind, bound) == expected


@pytest.mark.parametrize("kind", WORDS)
def test_streams_need_a_bound(kind: str) -> None:
    assert outcome("stream", "stream", kind) == "J001"


STREAMS = "".join(
    f"CREATE STREAM {name} (id BIGINT, v BIGINT, time TIMESTAMP, WATERMARK FOR time AS time) "
    f"WITH (connector = 'files', path = '{name}', format = 'json');"
    for name in "ab"
)


def refused(on: str) -> list[Diagnostic]:
    with pytest.raises(CompileError) as refusal:
        penstock.compile(f"{STREAMS} SELECT STREAM a.id FROM a JOIN b {on}")
    return list(refusal.value.diagnostics)


@pytest.mark.parametrize("on", ["a.id = b.id AND {} > 1", "a.id = b.id AND {} BETWEEN a.time AND a.time + 1 SEC"])
def test_unknown_names_are_told_before_the_bound(on: str) -> None:
    assert [found.code for found in refused(f"ON {on.format('b.nowhere')}")] == ["N001"]


@pytest.mark.parametrize("on", ["a.id = b.id", "a.id = b.id AND b.v > 1", "a.id = b.id -- the same\nAND a.v = b.v"])
def test_the_bound_that_is_proposed_is_accepted(on: str) -> None:
    (found,) = refused(f"ON {on}")
    assert found.code == "J001"
    assert penstock.compile(f"{STREAMS} SELECT STREAM a.id FROM a JOIN b {found.hint}").queries


def test_what_else_is_wrong_is_told_with_the_bound() -> None:
    assert [found.code for found in refused("ON a.v > b.v AND a.v > 'x'")] == ["J001", "T010"]
    assert [found.code for found in refused("ON a.v > b.v")] == ["J001", "J008"]


NULLABLE_SIDES = {"INNER JOIN": "", "LEFT JOIN": "b", "RIGHT JOIN": "a", "FULL JOIN": "ab"}


@pytest.mark.parametrize(
    ("relation", "kind", "side"),
    [
        *(("stream", kind, side) for kind, side in product(NULLABLE_SIDES, "ab")),
        *(("table", kind, side) for kind, side in product(("INNER JOIN", "LEFT JOIN"), "ab")),
    ],
)
def test_columns_of_a_padded_side_can_be_null(relation: str, kind: str, side: str) -> None:
    """A CSV file of one column cannot hold NULL, so C018 tells whether a column can be NULL."""
    bound = "AND b.time BETWEEN a.time AND a.time + 1 HOUR" if relation == "stream" else ""
    script = f"""{RELATIONS}
    CREATE VIEW known AS SELECT STREAM * FROM events WHERE k IS NOT NULL;
    CREATE VIEW stream_c AS SELECT STREAM * FROM known;
    CREATE VIEW table_c AS SELECT * FROM table_b;
    CREATE STREAM one_column WITH (connector = 'files', path = 'data/one', format = 'csv')
    AS SELECT STREAM {side}.k FROM known a {kind} {relation}_c b ON a.k = b.k {bound};"""
    if side in NULLABLE_SIDES[kind]:
        with pytest.raises(CompileError) as refusal:
            penstock.compile(script)
        assert [each.code for each in refusal.value.diagnostics] == ["C018"]
    else:
        assert penstock.compile(script).program.queries
