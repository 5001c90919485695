"""The rows of a micro-batch as puts, updates and deletes: against a plain replay, row by row, of random batches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given, settings

from penstock.kit.tables.table_rows import NO_KEY, add_columns, delete_rows, put_rows
from penstock.kit.tables.table_updates import NO_ROW, MissingRowError, update_rows
from tests.codegen.memory_table import KEY, Rows

ops = st.lists(
    st.tuples(st.sampled_from([1, 2, None]), st.sampled_from(["x", "y", None]), st.integers(-5, 5)), max_size=12
).flatmap(lambda rows: st.permutations(list(enumerate(rows))))
START = ((1, "x", 3), (2, "y", 4))


def batch(rows: Sequence[tuple[int, tuple[Any, Any, int]]], *names: str) -> pa.Table:
    """Rows in any order, with their order in `_order`; each of `names` is a column with the number."""
    columns: dict[str, pa.Array] = {
        "a": pa.array([a for _, (a, _, _) in rows], pa.int64()),
        "b": pa.array([b for _, (_, b, _) in rows], pa.string()),
    }
    columns |= {name: pa.array([n for _, (_, _, n) in rows], pa.int64()) for name in names}
    places = [{"arrived": place // 3, "line": place % 3} for place, _ in rows]
    columns["_order"] = pa.array(places, pa.struct([("arrived", pa.int64()), ("line", pa.int64())]))
    return pa.table(columns)


def in_order(rows: Sequence[tuple[int, tuple[Any, Any, int]]]) -> list[tuple[Any, Any, int]]:
    return [row for _, row in sorted(rows)]


@settings(deadline=None)
@given(ops, st.booleans())
def test_puts(rows: Any, complete: bool) -> None:
    table, wanted = Rows(*START), Rows(*START)
    put_rows(table, batch(rows, "n"), KEY, ["_order"], complete=complete)
    sound = [row for row in in_order(rows) if None not in row[:2]]
    for a, b, n in sound:
        wanted.rows[a, b] = {"a": a, "b": b, "n": n}
    assert table.rows == wanted.rows
    assert table.puts == (len(sound) if complete else len({row[:2] for row in sound}))
    assert [reason for reason, _ in table.rejected] == [NO_KEY] * (len(rows) - len(sound))


@given(st.permutations([(1, "x", 3), (1, "x", None), (1, "x", 7), (2, "y", 5), (2, "y", -5)]))
def test_rows_of_one_key_and_time_are_ordered_by_their_columns(rows: list[tuple[int, str, int | None]]) -> None:
    """The last one does not depend on the order in which they came. NULL is last here."""
    a, b, n = zip(*rows, strict=True)
    time = pa.array([1_000] * len(rows), pa.timestamp("us"))
    given = pa.table({"a": pa.array(a, pa.int64()), "b": pa.array(b), "n": pa.array(n, pa.int64()), "_order": time})
    table = Rows(*START)
    put_rows(table, given, KEY, ["_order"], complete=False)
    assert {key: row["n"] for key, row in table.rows.items()} == {(1, "x"): None, (2, "y"): 5}


@settings(deadline=None)
@given(ops)
def test_deletes(rows: Any) -> None:
    table = Rows(*START)
    delete_rows(table, batch(rows), KEY)
    gone = {row[:2] for row in in_order(rows)}
    assert set(table.rows) == {(a, b) for a, b, _ in START} - gone


@settings(deadline=None)
@given(ops, st.booleans(), st.booleans())
def test_updates(rows: Any, inserts: bool, folds: bool) -> None:
    """Without a fold n becomes the last value; with it each value is added to twice the one before."""
    table = Rows(*START)
    wanted = {row[:2]: row[2] for row in START}
    rejected = []
    for a, b, n in in_order(rows):
        if a is None or b is None:
            rejected.append(NO_KEY)
        elif (a, b) not in wanted and not inserts:
            rejected.append(NO_ROW)
        else:
            wanted[a, b] = 2 * wanted.get((a, b), 100) + n if folds else n
    named = batch(rows, "v") if folds else batch(rows, "set.n", "else.n")

    def fold(updates: pa.Table) -> pa.Table:
        results = []
        for each in updates.to_pylist():
            n = 100 if each["_current"] is None else each["_current"]["n"]
            for update in each["_updates"]:
                n = 2 * n + update["v"]
            results.append({"_group": each["_group"], "_row": {"n": n}})
        results.reverse()  # Spark answers in any order
        return pa.Table.from_pylist(results)

    update_rows(
        table,
        named,
        key=KEY,
        order=["_order"],
        assigned=("n",),
        inserted=("n",) if inserts else None,
        current=("n",) if folds else (),
        fold=fold if folds else None,
        fails=False,
    )
    assert {key: row["n"] for key, row in table.rows.items()} == wanted
    assert sorted(reason for reason, _ in table.rejected) == sorted(rejected)


def test_records_have_the_names_of_the_table() -> None:
    columns = {"a": [None, 7], "b": ["x", "x"], "_order": [1, 2]}
    keys = pa.table(columns, schema=pa.schema([("a", pa.int64()), ("b", pa.string()), ("_order", pa.int64())]))
    table = Rows()
    put_rows(table, add_columns(keys, {"n": pa.array([1, 2]), "_op": pa.array(["insert"] * 2)}), KEY, ["_order"], "_op")
    updates = add_columns(keys, {"set.n": pa.array([3, 4]), "else.n": pa.array([5, 6]), "else.m": pa.array([7, 8])})
    given: dict[str, Any] = {"key": KEY, "order": ["_order"], "assigned": ("n",), "current": (), "fold": None}
    update_rows(table, updates, **given, inserted=("m", "n"), fails=False)
    table.rows.clear()
    update_rows(table, updates.drop(["else.n", "else.m"]), **given, inserted=None, fails=False)
    assert [(reason, json.loads(record)) for reason, record in table.rejected] == [
        (NO_KEY, {"a": None, "b": "x", "n": 1}),
        (NO_KEY, {"a": None, "b": "x", "m": 7, "n": 3}),
        (NO_KEY, {"a": None, "b": "x", "n": 3}),
        (NO_ROW, {"a": 7, "b": "x", "n": 4}),
    ]


def test_a_missing_row_can_fail() -> None:
    rows = batch([(0, (7, "z", 1))], "set.n")
    given: dict[str, Any] = {"key": KEY, "order": (), "assigned": ("n",), "inserted": None, "current": ()}
    with pytest.raises(MissingRowError, match='"a": 7'):
        update_rows(Rows(), rows, **given, fold=None, fails=True)


def test_records_of_times_that_python_lacks() -> None:
    far = pa.array([2**62], pa.timestamp("us", tz="UTC"))
    table = Rows()
    put_rows(table, pa.table({"a": pa.nulls(1, pa.int64()), "b": ["x"], "n": far}), KEY)
    ((_, record),) = table.rejected
    assert f"{2**62} microseconds since 1970" in record


@pytest.mark.parametrize("keys", [[1.5, float("nan"), float("nan"), -0.0, 0.0], [b"x", b"", b"x"], [True, False, True]])
def test_keys_of_other_types(keys: list[Any]) -> None:
    rows = pa.table({"a": keys, "b": ["x"] * len(keys), "n": list(range(len(keys)))})
    found: list[pa.Table] = []

    class Puts(Rows):
        def upsert(self, rows: pa.Table) -> None:
            found.append(rows)

    put_rows(Puts(), rows, KEY)
    assert found[0].num_rows == len({str(each + 0 if isinstance(each, float) else each) for each in keys})
