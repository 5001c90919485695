"""The limits of a policy, and a batch on a full disk."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from penstock.kit.databases import attempts as library
from penstock.kit.databases import writer as writers
from penstock.kit.databases.address import Address, connect_database
from penstock.kit.databases.faults import TableError
from penstock.kit.databases.writer import WritePolicy
from tests.databases.places import DDL, Place, rows_of


class Clock:
    """A clock that goes on only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_rate_limit_pauses_before_the_next_batch(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(writers, "time", clock)
    place.execute(DDL)
    writer = place.writer(policy=WritePolicy(rate_limit=100))
    for batch, keys in enumerate((40, 1, 1)):
        rows = rows_of(*((key, batch, "a") for key in range(keys)))
        writer.write(batch, "d", lambda changes, rows=rows: changes.upsert(rows))  # type: ignore[misc]
    assert clock.now == pytest.approx(0.41)
    assert [*writer.counters.batch_seconds] == [0, 0, 0]


def test_a_disk_that_is_full_and_then_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place("sqlite", str(tmp_path / "rows"))
    place.execute(DDL)
    pages = [30]

    def small(address: Address, create: bool, *, read_only: bool) -> sa.Connection:
        connection = connect_database(address, create, read_only=read_only)
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages[0]}")
        connection.rollback()
        return connection

    texts: list[str] = []
    writer = place.writer(policy=WritePolicy(attempts=2, backoff_ms=1), on_retry=texts.append)
    writer.close()
    monkeypatch.setattr(library, "connect_database", small)
    rows = rows_of(*((k, k, "a" * 1000) for k in range(500)))
    with pytest.raises(TableError, match="full") as refused:
        writer.write(0, "d", lambda changes: changes.upsert(rows))
    assert (refused.value.kind, refused.value.hint) == ("full", "free some space")
    assert place.rows("SELECT count(*) FROM t") == [(0,)]
    pages[0] = 10_000
    writer.write(0, "d", lambda changes: changes.upsert(rows))
    assert place.rows("SELECT count(*) FROM t") == [(500,)]
