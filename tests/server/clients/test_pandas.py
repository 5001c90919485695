"""pandas, with SQLAlchemy and psycopg."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

from tests.server.clients.address import Address
from tests.server.postgres.door import Door

STREAMS = [["clicks", "at TIMESTAMP, page STRING"], ["Wörter", None]]
LINES = ["KStream", "  Scan clicks"]


@pytest.fixture
def connection(relay: Address) -> Iterator[Connection]:
    """A connection of SQLAlchemy, as pandas takes it."""
    engine = create_engine(relay.url("postgresql+psycopg"), poolclass=NullPool)
    with engine.connect() as opened:
        yield opened


def listed(frame: Any) -> list[list[Any]]:
    """The rows, with None for what is missing."""
    found: list[list[Any]] = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    return found


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_statements_of_penstock(connection: Connection, backend: str) -> None:
    for statement in ("SHOW STREAMS", text("SHOW STREAMS")):
        frame = pd.read_sql(statement, connection, dtype_backend=backend)
        assert list(frame.columns) == ["name", "columns"]
        assert listed(frame) == STREAMS
    assert pd.read_sql_query("EXPLAIN PLAN SELECT 1", connection)["plan"].tolist() == LINES
    frame = pd.read_sql("SHOW STREAMS", connection, index_col="name")
    assert frame.index.tolist() == ["clicks", "Wörter"]


def test_run(door: Door, connection: Connection) -> None:
    written = "SELECT * FROM penstock.run('EXPLAIN PLAN x')"
    assert pd.read_sql(written, connection)["line"].tolist() == LINES
    bound = text("SELECT * FROM penstock.run(:statement)")
    assert pd.read_sql(bound, connection, params={"statement": "EXPLAIN PLAN x"})["line"].tolist() == LINES
    parts = pd.read_sql(written, connection, chunksize=1)
    assert [part["line"].tolist() for part in parts] == [[line] for line in LINES]
    assert door.engine.texts == ["EXPLAIN PLAN x"] * 3


def test_an_engine_and_a_url(relay: Address) -> None:
    url = relay.url("postgresql+psycopg")
    assert listed(pd.read_sql("SHOW STREAMS", url)) == STREAMS
    assert listed(pd.read_sql("SHOW STREAMS", create_engine(url, poolclass=NullPool))) == STREAMS


def test_an_error(door: Door, connection: Connection) -> None:
    with pytest.raises(pd.errors.DatabaseError, match="K012: a watermark is missing"):
        pd.read_sql("CREATE STREAM bad", connection)
    connection.rollback()
    with pytest.raises(pd.errors.DatabaseError, match="no end"):
        pd.read_sql("SELECT STREAM * FROM clicks", connection)
    assert len(door.engine.asked) == 1


@pytest.mark.parametrize("method", [None, "multi"])
def test_tables_of_its_own(connection: Connection, method: Any) -> None:
    frame = pd.DataFrame({"name": ["é", None], "n": [1, 2], "at": pd.to_datetime(["2026-01-02", None], utc=True)})
    for exists in ("replace", "append"):
        frame.to_sql("frames", connection, schema="alice", if_exists=exists, index=False, method=method)
    assert pd.read_sql_table("frames", connection, schema="alice")["n"].tolist() == [1, 2, 1, 2]
    connection.rollback()


def look_around(address: Address) -> list[Any]:
    """What pandas reads of tables."""
    engine = create_engine(address.url("postgresql+psycopg"), poolclass=NullPool)
    found: list[Any] = []
    with engine.connect() as connection:
        for name, schema in (("revenue", None), ("orders", "alice"), ("large", "alice")):
            frame = pd.read_sql_table(name, connection, schema=schema)
            found += [frame.dtypes.astype(str).to_dict(), listed(frame)]
        found.append(listed(pd.read_sql("SELECT * FROM alice.orders", connection, parse_dates=["at"])))
        found.append(pd.io.sql.has_table("SHOW STREAMS", connection))
    return found


@pytest.mark.usefixtures("inspected")
@pytest.mark.filterwarnings("ignore:Did not recognize type 'place'")
def test_looks_are_as_without_the_relay(relay: Address, direct: Address) -> None:
    assert look_around(relay) == look_around(direct)
