"""Batches of rows in tables of Delta Lake: each once, by one writer, and as a plain replay has them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from penstock.kit.databases.faults import DivergedError, FencedError, TableError
from penstock.kit.delta import delta_writer
from penstock.kit.delta.delta_writer import DeltaChanges, DeltaWriter
from penstock.kit.tables.table_rows import put_rows
from tests.delta.lakes import HASTY, QUERY, held, list_actions, open_writer, read_by_hand, rows_of, target_of

HISTORIES = int(os.environ.get("PENSTOCK_TABLE_HISTORIES", "30"))
KEYS = st.integers(0, 6)
ROWS = st.lists(
    st.tuples(KEYS, st.none() | st.integers(-9, 9), st.none() | st.text("aß'\"\n ", max_size=3)), max_size=5
)
OPERATIONS = st.sampled_from(["insert", "update", "delete"])
BATCHES = st.lists(
    st.tuples(st.lists(st.tuples(ROWS.map(tuple), OPERATIONS), max_size=3), st.integers(0, 1)), max_size=4
)


def put(*rows: tuple[Any, ...]) -> Callable[[DeltaChanges], None]:
    return lambda changes: changes.upsert(rows_of(*rows))


def put_in_order(rows: pa.Table) -> Callable[[DeltaChanges], None]:
    """What the rows of a micro-batch do that have an order and say what they do."""
    return lambda changes: put_rows(changes, rows, ("k",), ["_order"], "_op")


def append(*rows: tuple[Any, ...]) -> Callable[[DeltaChanges], None]:
    return lambda changes: changes.append(rows_of(*rows))


@pytest.mark.draws
@settings(
    max_examples=HISTORIES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(BATCHES, st.booleans())
def test_histories_of_puts_and_deletes_are_what_a_dict_has(batches: Any, restarts: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t"
        writer = open_writer(target_of(path))
        expected: dict[int, tuple[Any, ...]] = {}
        for number, (groups, replays) in enumerate(batches):
            changes = [(row, operation) for rows, operation in groups for row in rows]
            for row, operation in changes:
                expected.pop(row[0], None)
                if operation != "delete":
                    expected[row[0]] = row
            rows = rows_of(*(row for row, _ in changes))
            rows = rows.append_column("_order", pa.array(range(len(changes)), pa.int64()))
            rows = rows.append_column("_op", pa.array([operation for _, operation in changes], pa.string()))
            for _ in range(1 + replays):
                if restarts:
                    writer = open_writer(target_of(path))
                writer.write(number, digest(number), put_in_order(rows))
        assert held(path) == sorted(expected.values(), key=repr)


def digest(number: int) -> str:
    """A digest of a batch's offsets."""
    return f"{number:064x}"[::-1]


def test_a_batch_is_appended_once(tmp_path: Path) -> None:
    writer = open_writer(target_of(tmp_path / "t", key=()))
    for _ in range(2):
        writer.write(0, digest(0), append((1, 1, "a"), (1, 1, "a")))
    writer.write(1, digest(1), append((2, None, "")))
    open_writer(target_of(tmp_path / "t", key=())).write(1, digest(1), append((3, 3, "other")))
    assert held(tmp_path / "t") == [(1, 1, "a"), (1, 1, "a"), (2, None, "")]
    assert not any("remove" in action for action in list_actions(tmp_path / "t"))


def test_the_commit_notes_the_batch_and_its_digest(tmp_path: Path) -> None:
    open_writer(target_of(tmp_path / "t")).write(7, digest(7), put((1, 1, "a")))
    newest = DeltaTable(str(tmp_path / "t")).history(1)[0]
    assert newest["penstock"] == {"query": QUERY, "batch": 7, "digest": digest(7), "epoch": 1}
    numbers = {
        action["txn"]["appId"]: action["txn"]["version"] for action in list_actions(tmp_path / "t") if "txn" in action
    }
    assert numbers[f"penstock/{QUERY}/rows"] == 7
    assert numbers[f"penstock/{QUERY}/rows/epoch"] == 1


def test_a_batch_of_other_rows_stops_the_query(tmp_path: Path) -> None:
    writer = open_writer(target_of(tmp_path / "t"))
    for number in (0, 1, 2):
        writer.write(number, digest(number), put((number, number, "a")))
    with pytest.raises(DivergedError, match="batch 2 of 0f0e was written"):
        writer.write(2, digest(9), put((9, 9, "z")))
    with pytest.raises(DivergedError, match="has batch 2 of 0f0e, and not this batch 1"):
        writer.write(1, digest(9), put((9, 9, "z")))
    writer.write(1, digest(1), put((9, 9, "z")))
    assert held(tmp_path / "t") == [(0, 0, "a"), (1, 1, "a"), (2, 2, "a")]


def test_a_writer_that_was_replaced_writes_nothing(tmp_path: Path) -> None:
    old = open_writer(target_of(tmp_path / "t"))
    open_writer(target_of(tmp_path / "t"))
    with pytest.raises(FencedError, match="has taken over since epoch 1"):
        old.write(0, digest(0), put((1, 1, "a")))
    assert held(tmp_path / "t") == []


@pytest.mark.parametrize("work", [put, append], ids=["put", "append"])
def test_a_writer_that_is_replaced_while_it_writes_writes_nothing(tmp_path: Path, work: Any) -> None:
    old = open_writer(target_of(tmp_path / "t"))

    def replaced(changes: DeltaChanges) -> None:
        open_writer(target_of(tmp_path / "t"))
        work((1, 1, "a"))(changes)

    with pytest.raises(FencedError):
        old.write(0, digest(0), replaced)
    assert held(tmp_path / "t") == []


def test_two_queries_put_rows_into_one_table(tmp_path: Path) -> None:
    """Each of two commits of others is seen: the merge begins again on the newest version."""
    one, others = (
        open_writer(target_of(tmp_path / "t")),
        iter([rows_of((1, 0, "b")), rows_of((0, 0, "b"), (5, 5, "b"))]),
    )

    def work(changes: DeltaChanges) -> None:
        other = next(others, None)
        if other is not None:
            write_deltalake(tmp_path / "t", other, mode="append")
        put((1, 1, "a"))(changes)

    one.write(0, digest(0), work)
    assert held(tmp_path / "t") == [(0, 0, "b"), (1, 1, "a"), (5, 5, "b")]
    assert one.counters.retries == 2


@pytest.mark.parametrize("nullable", [False, True], ids=["required", "nullable"])
@pytest.mark.parametrize("is_empty", [False, True], ids=["rows", "empty"])
@pytest.mark.parametrize(
    ("type_", "value", "other"),
    [
        ("BIGINT", 1, 2),
        ("STRING", "a" * 100, "b"),
        ("STRING", "", "'"),
        ("DOUBLE", float("nan"), 1.0),
        ("DOUBLE", float("inf"), -1.0),
        ("DECIMAL(38, 2)", Decimal("1.50"), Decimal(2)),
        ("BINARY", b"\xff", b""),
        ("BOOLEAN", True, False),
        ("DATE", date(1, 1, 1), date(9999, 12, 31)),
        ("TIMESTAMP", datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)),
    ],
)
def test_two_queries_that_put_a_key_at_the_same_time_leave_one_row(
    tmp_path: Path, type_: str, value: Any, other: Any, is_empty: bool, nullable: bool
) -> None:
    target = target_of(tmp_path / "t", columns=(("k", type_, nullable), ("v", "BIGINT", True)))
    schema = pa.schema([field.with_nullable(True) for field in target.arrow_schema()])
    one, two = open_writer(target), DeltaWriter(target, "q", HASTY, by_key=True)
    two.open("another", "rows")
    if not is_empty:
        two.write(0, digest(0), lambda changes: changes.upsert(pa.table([[other], [0]], schema=schema)))
    attempts: list[int] = []

    def work(changes: DeltaChanges) -> None:
        attempts.append(1)
        if len(attempts) == 1:
            two.write(1, digest(1), lambda changes: changes.upsert(pa.table([[value], [1]], schema=schema)))
        changes.upsert(pa.table([[value], [2]], schema=schema))

    one.write(0, digest(0), work)
    assert sorted(row["v"] for row in read_by_hand(tmp_path / "t")) == ([2] if is_empty else [0, 2])
    assert len(attempts) == 2


def test_a_commit_whose_answer_is_lost_is_not_made_again(tmp_path: Path) -> None:
    writer = open_writer(target_of(tmp_path / "t", key=()))
    lost = [True]

    def lose_answer(*given: Any, **named: Any) -> None:
        write_deltalake(*given, **named)
        if lost and lost.pop():
            raise CommitFailedError("Failed to commit transaction: the answer is lost")

    with patch.object(delta_writer, "write_deltalake", lose_answer):
        writer.write(0, digest(0), append((1, 1, "a")))
    assert held(tmp_path / "t") == [(1, 1, "a")]
    assert (writer.counters.retries, writer.counters.puts) == (1, 1)


def test_rows_that_the_table_cannot_have_lie_beside_it_once(tmp_path: Path) -> None:
    target = target_of(tmp_path / "t", columns=(*target_of(tmp_path).columns[:2], ("s", "STRING", False)))
    writer = open_writer(target)

    def killed(*given: Any) -> None:
        raise KeyboardInterrupt

    with patch.object(DeltaWriter, "_commit", killed), pytest.raises(KeyboardInterrupt):
        writer.write(0, digest(0), put((1, 1, None), (2, 2, "b")))
    open_writer(target).write(0, digest(0), put((1, 1, None), (2, 2, "b")))
    assert held(tmp_path / "t") == [(2, 2, "b")]
    [row] = read_by_hand(tmp_path / "t_rejected")
    assert (row["query"], row["batch"], row["reason"]) == ("q", 0, "s is NULL")
    assert row["record"] == '{"k": 1, "v": 1, "s": null}'


def test_too_many_rejected_rows_stop_the_query(tmp_path: Path) -> None:
    target = target_of(tmp_path / "t", columns=(*target_of(tmp_path).columns[:2], ("s", "STRING", False)))
    with pytest.raises(TableError, match="refuses more than 5 rows of one batch: s is NULL"):
        open_writer(target).write(0, digest(0), put(*((key, 1, None) for key in range(6))))
    assert held(tmp_path / "t") == []


def test_keys_may_be_null_where_they_are_declared_so(tmp_path: Path) -> None:
    target = target_of(tmp_path / "t", columns=(("k", "BIGINT", True), *target_of(tmp_path).columns[1:]))
    writer = open_writer(target)
    for number, value in enumerate((1, 2)):
        rows = rows_of((None, value, "a"), (1, value, "b"))
        writer.write(number, digest(number), partial(put_rows, rows=rows, key=["k"]))
    assert held(tmp_path / "t") == [(1, 2, "b"), (None, 2, "a")]


def test_a_table_of_one_row_has_one(tmp_path: Path) -> None:
    columns = (("n", "BIGINT", True),)
    writer = open_writer(target_of(tmp_path / "t", columns=columns, key=()))
    for number in range(3):
        rows = pa.table({"n": [number, number + 1]})
        writer.write(number, digest(number), partial(put_rows, rows=rows, key=[]))
    assert read_by_hand(tmp_path / "t") == [{"n": 3}]


def test_zero_has_one_sign_in_a_key(tmp_path: Path) -> None:
    columns = (("f", "DOUBLE", False), ("n", "BIGINT", True))
    writer = open_writer(target_of(tmp_path / "t", columns=columns, key=("f",)))
    for number, value in enumerate((0.0, -0.0, float("nan"), float("nan"))):
        rows = pa.table({"f": [value], "n": [number]})
        writer.write(number, digest(number), partial(put_rows, rows=rows, key=["f"]))
    assert sorted(row["n"] for row in read_by_hand(tmp_path / "t")) == [1, 3]


def test_an_empty_partition_value_is_set_aside(tmp_path: Path) -> None:
    """Delta Lake has no difference between an empty text and NULL there."""
    writer = open_writer(target_of(tmp_path / "t", partition_by=("s",)))
    writer.write(0, digest(0), put((1, 1, ""), (2, 2, "a/b=%é"), (3, 3, None)))
    assert held(tmp_path / "t") == [(2, 2, "a/b=%é"), (3, 3, None)]
    assert [row["reason"] for row in read_by_hand(tmp_path / "t_rejected")] == ["s is '', which partitions do not have"]


def test_an_empty_batch_leaves_no_commit(tmp_path: Path) -> None:
    writer = open_writer(target_of(tmp_path / "t"))
    before = DeltaTable(str(tmp_path / "t")).version()
    writer.write(0, digest(0), put())
    writer.write(1, digest(1), lambda changes: changes.delete(rows_of()))
    assert DeltaTable(str(tmp_path / "t")).version() == before
