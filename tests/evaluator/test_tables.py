"""Tables from changes, case by case: what a stale record, a tombstone, a move or a padded side does."""

from __future__ import annotations

import pytest

from penstock.evaluator.changes import ChangeRun
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.held import Change
from penstock.evaluator.history import Tables
from penstock.evaluator.typed_values import Row, Value, milliseconds
from penstock.planner.plan import KTable
from tests.properties.tables import BASE, planned

NAMES = ("t", "u", "v", "w", "s", "r")


def record(key: str | None, value: int | None = 1, seq: int | None = 1, **fields: Value) -> Row:
    empty: Row = dict.fromkeys(("g", "price", "yes", "time", "op"))
    return empty | {"id": key, "v": value, "seq": seq} | fields


def gone(key: str, seq: int = 1) -> Row:
    return record(key, None, seq, op="delete")


def batch(**records: list[Row]) -> Tables:
    return {name: records.get(name, []) for name in NAMES}


def sent(query: ChangeRun, **records: list[Row]) -> list[tuple[Value, ...]]:
    """Key, `v` before and `v` after of each change of a micro-batch."""

    def value(row: Row | None) -> Value:
        return "nothing" if row is None else row["v"]

    changes: list[Change] = query.step(batch(**records))
    return [(*each.key, value(each.old), value(each.new)) for each in changes]


def test_of_several_records_the_newest_counts_and_an_older_one_changes_nothing() -> None:
    query = ChangeRun(planned("SELECT id, v FROM t"))
    assert sent(query, t=[record("a", 1, 1), record("a", 3, 3), record("a", 2, 2)]) == [("a", "nothing", 3)]
    assert sent(query, t=[record("a", 2, 2)]) == []
    assert sent(query, t=[record("a", 4, 3)]) == [("a", 3, 4)]  # of one sequence, the later one
    assert sent(query, t=[record("a", 4, 9)]) == []


def test_a_deleted_row_is_not_brought_back_by_an_older_record() -> None:
    query = ChangeRun(planned("SELECT id, v FROM t"))
    assert sent(query, t=[record("a", 1, 1)]) == [("a", "nothing", 1)]
    assert sent(query, t=[gone("a", 5)]) == [("a", 1, "nothing")]
    assert sent(query, t=[record("a", 2, 4), gone("b", 1)]) == []
    assert sent(query, t=[record("a", 6, 6)]) == [("a", "nothing", 6)]


def test_a_record_without_key_or_place_is_no_part_of_a_table() -> None:
    plan = planned("SELECT id, v FROM t")
    records = [record(None), record("a", seq=None)]
    assert sent(ChangeRun(plan), t=records) == []
    assert evaluate(plan, batch(t=records)) == []


def test_a_row_that_a_filter_no_longer_lets_through_leaves() -> None:
    query = ChangeRun(planned("SELECT id, v FROM t WHERE v > 1"))
    assert sent(query, t=[record("a", 2, 1)]) == [("a", "nothing", 2)]
    assert sent(query, t=[record("a", 1, 2)]) == [("a", 2, "nothing")]
    assert sent(query, t=[record("a", 0, 3)]) == []


def test_a_row_moves_from_group_to_group_and_an_empty_one_ceases() -> None:
    query = ChangeRun(planned("SELECT g, COUNT(*) AS v FROM t GROUP BY g"))
    assert sent(query, t=[record("a", g="x"), record("b", g="x")]) == [("x", "nothing", 2)]
    moves = [record("a", g="y", seq=2), record("b", g="y", seq=2), record("a", g="z", seq=3)]
    assert sorted(sent(query, t=moves)) == [("x", 2, "nothing"), ("y", "nothing", 1), ("z", "nothing", 1)]
    assert query.step(batch(t=[record("b", g="y", seq=4)])) == []


def test_a_stale_record_does_not_change_a_join() -> None:
    query = ChangeRun(planned("SELECT t.id AS id, t.v + u.v AS v FROM t JOIN u ON t.id = u.id"))
    assert sent(query, t=[record("a", 5, 5)]) == []
    assert sent(query, u=[record("a", 10)], t=[record("a", 1, 1)]) == [("a", "nothing", 15)]
    assert sent(query, t=[record("a", 1, 1)]) == []
    assert sent(query, u=[gone("a")]) == [("a", 15, "nothing")]


def test_what_is_compared_with_a_padded_side_finds_nothing() -> None:
    text = "SELECT t.id AS id, w.v AS v FROM t LEFT JOIN u ON t.id = u.id LEFT JOIN w ON {side}.id = w.id"
    for side, found in (("u", None), ("t", 7)):
        query = ChangeRun(planned(text.format(side=side)))
        assert sent(query, t=[record("a")], w=[record("a", 7)]) == [("a", "nothing", found)]


def test_after_an_inner_join_that_failed_a_full_one_shows_the_new_side_alone() -> None:
    plan = planned(
        "SELECT COALESCE(t.id, w.id) AS id, t.v AS left, w.v AS v FROM t JOIN u ON t.id = u.id"
        " FULL JOIN w ON t.id = w.id"
    )
    (change,) = ChangeRun(plan).step(batch(t=[record("a", 1)], w=[record("a", 2)]))
    assert change.new == {"id": "a", "left": None, "v": 2}


def test_a_foreign_key_that_moves_and_a_row_referred_to_that_goes() -> None:
    query = ChangeRun(planned("SELECT t.id AS id, u.v AS v FROM t LEFT JOIN u ON t.g = u.id"))
    assert sent(query, t=[record("a", g="x"), record("b", g="x")], u=[record("x", 1), record("y", 2)]) == [
        ("a", "nothing", 1),
        ("b", "nothing", 1),
    ]
    assert sent(query, t=[record("a", g="y", seq=2)], u=[gone("x")]) == [("a", 1, 2), ("b", 1, None)]


def test_a_stream_meets_all_records_of_its_own_micro_batch_and_none_of_later_ones() -> None:
    query = ChangeRun(planned("SELECT STREAM s.id AS id, t.v AS v FROM s LEFT JOIN t ON s.id = t.id"))
    assert query.send(batch(s=[record("a"), record("b")], t=[record("a", 1)])) == [
        {"id": "a", "v": 1},
        {"id": "b", "v": None},
    ]
    assert query.send(batch(t=[record("b", 2)])) == []


@pytest.mark.parametrize(("second", "found"), [(0, None), (1, 1), (2, 1), (3, 3), (9, None)])
def test_as_of_its_event_time_a_row_meets_the_row_of_then(second: int, found: int | None) -> None:
    text = "SELECT STREAM s.id AS id, x.v AS v FROM s LEFT JOIN x FOR SYSTEM_TIME AS OF s.time AS x ON s.id = x.id"
    plan = planned(text)
    times = {time: BASE + milliseconds(1000 * time) for time in range(10)}
    records = [record("a", 1, time=times[1]), record("a", 3, time=times[3]), gone("a") | {"time": times[5]}]
    rows = evaluate(plan, batch(s=[record("a", time=times[second])]) | {"x": records})
    assert rows == [{"id": "a", "v": found}]


def test_the_one_group_of_a_whole_table_stays() -> None:
    plan = planned("SELECT COUNT(*) AS v FROM t")
    query = ChangeRun(plan)
    assert sent(query, t=[record("a")]) == [("nothing", 1)]
    assert sent(query, t=[gone("a", 2)]) == [(1, 0)]
    assert isinstance(plan.shape, KTable)
    assert plan.shape.key == ()
