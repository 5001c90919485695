"""The ledger: batches that are there are skipped, and writers that are not the newest are refused."""

from __future__ import annotations

import dataclasses

import pytest

from penstock.kit.databases.batch_changes import Changes
from penstock.kit.databases.faults import DivergedError, FencedError
from tests.databases.places import DDL, POLICY, Place, rows_of


def fail(changes: Changes) -> None:
    raise AssertionError("a batch that is there is not written again")


def add(number: int) -> dict[str, object]:
    return {"batch": number, "digest": f"d{number}", "work": lambda changes: changes.upsert(rows_of((number, 1, "a")))}


@pytest.fixture(autouse=True)
def table(place: Place) -> None:
    place.execute(DDL)


def test_a_batch_is_written_once(place: Place) -> None:
    writer = place.writer()
    writer.write(0, "d0", lambda changes: changes.upsert(rows_of((1, 1, "a"))))
    writer.write(0, "d0", fail)
    place.writer().write(0, "d0", fail)
    assert place.rows("SELECT query, sink, batch, digest, epoch, rows FROM penstock_ledger ORDER BY batch") == [
        ("id", "t", -1, None, 2, 0),
        ("id", "t", 0, "d0", 1, 1),
    ]
    assert (writer.counters.puts, writer.counters.batches) == (1, 2)


def test_another_digest_has_diverged(place: Place) -> None:
    writer = place.writer()
    writer.write(0, "d0", lambda changes: changes.upsert(rows_of((1, 1, "a"))))
    with pytest.raises(DivergedError, match="batch 0 of id was written to t from other rows"):
        writer.write(0, "other", fail)
    assert place.rows("SELECT * FROM t") == [(1, 1, "a")]


def test_an_older_batch_that_the_ledger_does_not_know_has_diverged(place: Place) -> None:
    writer = place.writer(policy=dataclasses.replace(POLICY, keep_ledger=2))
    for number in (3, 4, 5, 7):
        writer.write(**add(number))  # type: ignore[arg-type]
    assert place.rows("SELECT batch FROM penstock_ledger ORDER BY 1") == [(-1,), (7,)]
    writer.write(**add(8))  # type: ignore[arg-type]
    assert place.rows("SELECT batch FROM penstock_ledger ORDER BY 1") == [(-1,), (7,), (8,)]
    for number in (2, 5):
        with pytest.raises(DivergedError, match=f"has batch 8 of id, and does not know batch {number}"):
            writer.write(number, f"d{number}", fail)


def test_a_writer_is_refused_when_another_one_has_begun(place: Place) -> None:
    old = place.writer()
    old.write(**add(0))  # type: ignore[arg-type]
    new = place.writer()
    with pytest.raises(FencedError, match="another writer of id has taken over since epoch 1 of t"):
        old.write(1, "d1", fail)
    new.write(**add(1))  # type: ignore[arg-type]
    with pytest.raises(FencedError):
        old.write(1, "d1", fail)
    assert place.rows("SELECT k FROM t ORDER BY k") == [(0,), (1,)]


def test_queries_and_sinks_have_ledgers_of_their_own(place: Place) -> None:
    first = place.writer()
    for query, sink in (("other", "t"), ("id", "u")):
        first.close()
        writer = place.writer()
        writer.open(query, sink)
        writer.write(0, "other", lambda changes: changes.upsert(rows_of((1, 2, "b"))))
        writer.close()
    # place.writer() itself has taken two epochs of (id, t).
    with pytest.raises(FencedError):
        first.write(0, "d", fail)
    assert place.rows("SELECT query, sink, epoch FROM penstock_ledger WHERE batch = -1 ORDER BY 1, 2") == [
        ("id", "t", 3),
        ("id", "u", 1),
        ("other", "t", 1),
    ]


def test_a_ledger_that_was_emptied_refuses(place: Place) -> None:
    writer = place.writer()
    place.execute("DELETE FROM penstock_ledger")
    with pytest.raises(FencedError):
        writer.write(0, "d", fail)
