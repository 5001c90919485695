"""Batches -> what is kept in memory, and what is printed."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from penstock.codegen.program import QueryOutput, SparkQuery
from penstock.runtime.connectors.console import ConsoleSink
from penstock.runtime.connectors.memory import MemorySink

APPEND = SparkQuery("q", (), (), "r", QueryOutput("totals", "memory", (), ()), "append", False, (), (), "")
LIMIT = 10_000
UPDATE = replace(APPEND, mode="update", key=("k",))


def batch(*rows: tuple[str, int]) -> pa.Table:
    return pa.table({"k": [k for k, _ in rows], "n": [n for _, n in rows]})


def test_an_append_query_keeps_all_rows_in_order() -> None:
    sink = MemorySink(APPEND)
    sink.put(batch(("a", 1), ("b", 2)), 0)
    sink.put(batch(("a", 3)), 1)
    assert sink.rows() == [{"k": "a", "n": 1}, {"k": "b", "n": 2}, {"k": "a", "n": 3}]


def test_a_batch_that_comes_again_changes_nothing() -> None:
    sink = MemorySink(APPEND)
    for number in (0, 1, 1, 0):
        sink.put(batch(("a", number)), number)
    assert sink.rows() == [{"k": "a", "n": 0}, {"k": "a", "n": 1}]


def test_keys_of_maps_can_be_hashed() -> None:
    key = pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string()))])
    types = {"m": pa.map_(key, pa.int32()), "l": pa.list_(pa.map_(pa.string(), pa.map_(key, pa.int32())))}
    rows = [
        {"m": [({"a": 1, "b": ["x"]}, 2)], "l": [[("k", [({"a": 3, "b": None}, None)])], None]},
        {"m": None, "l": []},
    ]
    sink = MemorySink(APPEND)
    sink.put(pa.Table.from_pylist(rows, pa.schema([*types.items()])), 0)
    assert sink.rows() == [{"m": {(1, ("x",)): 2}, "l": [{"k": {(3, None): None}}, None]}, {"m": None, "l": []}]


def test_newer_rows_replace_older_ones_by_key() -> None:
    sink = MemorySink(UPDATE)
    sink.put(batch(("a", 1), ("b", 2)), 0)
    sink.put(batch(("a", 3)), 1)
    assert sink.rows() == [{"k": "a", "n": 3}, {"k": "b", "n": 2}]


def changed(*rows: tuple[str, int, str]) -> pa.Table:
    """A batch of changes."""
    return batch(*((k, n) for k, n, _ in rows)).append_column("does", [[does for _, _, does in rows]])


CHANGES = (
    changed(("a", 1, "insert"), ("b", 2, "insert")),
    changed(("a", 1, "delete"), ("b", 3, "update"), ("c", 4, "insert")),
)


def test_deleted_rows_are_gone() -> None:
    sink = MemorySink(replace(UPDATE, operation="does"))
    for number, rows in enumerate(CHANGES):
        sink.put(rows, number)
    assert sink.rows() == [{"k": "b", "n": 3}, {"k": "c", "n": 4}]


def test_the_console_says_what_a_row_does(capsys: pytest.CaptureFixture[str]) -> None:
    ConsoleSink(replace(UPDATE, operation="does")).put(CHANGES[1], 1)
    shown = capsys.readouterr().out
    assert [
        line.split() for line in shown.splitlines() if line.split()[1:] in (["a", "1"], ["b", "3"], ["c", "4"])
    ] == [
        ["-", "a", "1"],
        ["~", "b", "3"],
        ["+", "c", "4"],
    ]
    assert "~ replaces the earlier row with the same k, + is new, - ceases to exist" in shown
    assert "does" not in shown


def test_a_table_without_a_key_has_one_row() -> None:
    sink = MemorySink(replace(UPDATE, key=()))
    sink.put(batch(("a", 1)), 0)
    sink.put(batch(("a", 2)), 1)
    assert sink.rows() == [{"k": "a", "n": 2}]


@pytest.mark.parametrize("sizes", [(LIMIT + 5,), (LIMIT, 5), (3, LIMIT + 2)])
def test_the_newest_rows_are_kept_and_the_others_counted(sizes: tuple[int, ...]) -> None:
    sink = MemorySink(APPEND)
    first = 0
    for number, size in enumerate(sizes):
        sink.put(batch(*(("a", n) for n in range(first, first + size))), number)
        first += size
    assert [row["n"] for row in sink.rows()] == list(range(5, LIMIT + 5))
    assert sink.evicted == 5


def test_a_sink_keeps_and_shows_as_many_rows_as_it_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    query = replace(APPEND, output=QueryOutput("totals", "memory", (("rows", 2),), ()))
    kept, shown = MemorySink(query), ConsoleSink(query)
    for sink in (kept, shown):
        sink.put(batch(("a", 1), ("b", 2), ("c", 3)), 0)
    assert kept.rows() == [{"k": "b", "n": 2}, {"k": "c", "n": 3}]
    assert "and 1 more" in capsys.readouterr().out


def test_the_console_shows_a_few_rows(capsys: pytest.CaptureFixture[str]) -> None:
    query = replace(APPEND, output=QueryOutput("totals", "console", (), ()))
    ConsoleSink(query).put(batch(*(("key", n) for n in range(1234))), 7)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["totals,", "batch", "7:", "1,234", "rows"]
    assert [line for line in lines if line[:1] == ["key"]] == [["key", str(n)] for n in range(20)]
    assert lines[-1] == ["and", "1,214", "more"]


def test_the_console_marks_rows_that_replace_others(capsys: pytest.CaptureFixture[str]) -> None:
    ConsoleSink(UPDATE).put(pa.table({"k": ["[b]"], "n": pa.array([None], pa.int64())}), 0)
    printed = capsys.readouterr().out
    assert "~   [b]   NULL" in printed
    assert "~ replaces the earlier row with the same k" in printed


def test_the_console_is_silent_about_empty_batches(capsys: pytest.CaptureFixture[str]) -> None:
    ConsoleSink(APPEND).put(batch(), 0)
    assert capsys.readouterr().out == ""
