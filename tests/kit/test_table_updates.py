"""Updates that add to the present row: by the database where that is sure, else one after the other."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.kit.tables.table_updates import NO_ROW, UpdateSums, update_rows
from tests.codegen.memory_table import KEY, OVERFLOW, Rows, add_numbers

MOST = 2**63 - 1
FOLDED: list[int] = []

small = st.one_of(st.integers(-3, 3), st.none())
numbers = st.one_of(small, st.sampled_from([MOST, MOST - 2, -MOST, -MOST - 1]))
updates = st.one_of(*(st.lists(st.tuples(st.integers(1, 3), each, numbers), max_size=8) for each in (small, numbers)))


def make_rows(rows: list[tuple[int, Any, Any]], *, inserts: bool = True) -> pa.Table:
    """Of each the first column of the key, the number that is added or subtracted, and that of a new row."""
    names = ["a", "v", *(["_else.n"] if inserts else [])]
    columns = {name: pa.array([row[place] for row in rows], pa.int64()) for place, name in enumerate(names)}
    order = pa.array(range(len(rows)), pa.int64())
    return pa.table({**columns, "b": pa.array(["x"] * len(rows), pa.string()), "_order": order})


def update(table: Rows, rows: pa.Table, sign: int, inserts: bool) -> None:
    def fold(updates: pa.Table) -> pa.Table:
        FOLDED.append(updates.num_rows)
        results = []
        for each in updates.to_pylist():
            n = each["_updates"][0]["_else.n"] if each["_current"] is None else each["_current"]["n"]
            for one in each["_updates"]:
                n = step(n, one["v"], sign)
            results.append({"_group": each["_group"], "_row": {"n": n}})
        schema = pa.schema([("_group", pa.int64()), ("_row", pa.struct([("n", pa.int64())]))])
        return pa.Table.from_pylist(results, schema)

    pair = (("n", "v"),)
    begins = (("n", "_else.n"),) if inserts else ()
    update_rows(
        table,
        rows,
        key=KEY,
        order=["_order"],
        assigned=("n",),
        inserted=("n",) if inserts else None,
        current=("n",),
        fold=fold,
        fails=False,
        sums=UpdateSums(pair if sign > 0 else (), pair if sign < 0 else (), (), begins, begins and ("_else.n",)),
    )


def step(n: int | None, v: int | None, sign: int) -> int | None:
    """The sum or the difference as Spark computes it. Raises OverflowError."""
    result = add_numbers(n, None if v is None else sign * v)
    if result is OVERFLOW:
        raise OverflowError
    return result  # type: ignore[no-any-return]


@settings(deadline=None, max_examples=400)
@given(updates, st.sampled_from([1, -1]), st.booleans(), numbers)
def test_sums_are_the_same_as_updates_one_after_the_other(rows: Any, sign: int, inserts: bool, begin: Any) -> None:
    wanted: dict[int, int | None] = {1: begin, 2: 5}
    is_too_large, missing = False, 0
    for a, v, other in rows:
        if a not in wanted and not inserts:
            missing += 1
            continue
        try:
            wanted[a] = step(wanted.get(a, other), v, sign)
        except OverflowError:
            is_too_large = True
            break
    table = Rows((1, "x", begin), (2, "x", 5))
    if is_too_large:
        with pytest.raises(OverflowError):
            update(table, make_rows(rows, inserts=inserts), sign, inserts)
        return
    update(table, make_rows(rows, inserts=inserts), sign, inserts)
    assert {a: row["n"] for (a, _), row in table.rows.items()} == wanted
    assert [reason for reason, _ in table.rejected] == [NO_ROW] * missing
    assert all(set(json.loads(record)) == {"a", "b", "v"} for _, record in table.rejected)


@pytest.mark.parametrize(("sign", "result"), [(1, 11), (-1, -1)])
def test_the_database_adds(sign: int, result: int) -> None:
    """Rows of a key that is there, and of one that is not, are not read. Signs that differ are left to Spark."""
    FOLDED.clear()
    table = Rows((1, "x", 5), (2, "x", 5))
    update(table, make_rows([(1, 2, 0), (1, 4, 0), (3, 7, 1), (3, 1, 9), (2, 1, 0), (2, -1, 0)]), sign, inserts=True)
    assert {a: row["n"] for (a, _), row in table.rows.items()} == {1: result, 2: 5, 3: 1 + sign * 8}
    assert (table.added, table.puts, FOLDED) == (1, 1, [1])


def test_a_database_that_does_not_add_exactly_is_read() -> None:
    FOLDED.clear()
    table = Rows((1, "x", 5))
    table.adds = False
    update(table, make_rows([(1, 2, 0)]), 1, inserts=True)
    assert (table.rows[1, "x"]["n"], table.added, FOLDED) == (7, 0, [1])
