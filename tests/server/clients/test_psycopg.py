"""psycopg 3."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import ClientCursor, IsolationLevel
from psycopg.rows import dict_row
from psycopg.types import TypeInfo
from psycopg.types.composite import CompositeInfo
from psycopg.types.enum import EnumInfo
from psycopg.types.range import RangeInfo
from psycopg_pool import ConnectionPool

from tests.server.clients.address import Address
from tests.server.postgres.door import Door

Connection = psycopg.Connection[Any]
STREAMS = [("clicks", "at TIMESTAMP, page STRING"), ("Wörter", None)]
PLAN = [("KStream",), ("  Scan clicks",)]
RUN = "SELECT line FROM penstock.run(%s)"


@pytest.fixture
def connection(relay: Address) -> Iterator[Connection]:
    """A connection as psycopg opens it: a transaction begins with the first statement."""
    with psycopg.connect(relay.dsn) as opened:
        yield opened


@pytest.fixture
def committing(relay: Address) -> Iterator[Connection]:
    """A connection that commits each statement."""
    with psycopg.connect(relay.dsn, autocommit=True) as opened:
        yield opened


def test_rows(connection: Connection) -> None:
    cursor = connection.execute("SHOW STREAMS")
    assert cursor.description
    assert [(column.name, column.type_display) for column in cursor.description] == [
        ("name", "text"),
        ("columns", "text"),
    ]
    assert (cursor.rowcount, cursor.statusmessage) == (2, "SHOW")
    assert cursor.fetchall() == STREAMS


def test_rows_as_dicts(relay: Address) -> None:
    with psycopg.connect(relay.dsn, row_factory=dict_row) as connection:
        assert connection.execute("SHOW STREAMS").fetchone() == {"name": "clicks", "columns": STREAMS[0][1]}


def test_a_statement_without_rows(committing: Connection) -> None:
    cursor = committing.execute("CREATE STREAM a")
    assert (cursor.description, cursor.statusmessage, cursor.rowcount) == (None, "CREATE STREAM", -1)


@pytest.mark.parametrize("binary", [False, True])
def test_a_prepared_statement(door: Door, connection: Connection, binary: bool) -> None:
    for _ in range(7):
        assert connection.execute("SHOW STREAMS", prepare=True, binary=binary).fetchall() == STREAMS
        assert connection.execute(RUN, ["EXPLAIN PLAN x"], prepare=True, binary=binary).fetchall() == PLAN
    assert door.engine.texts == ["SHOW STREAMS", "EXPLAIN PLAN x"] * 7
    assert connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchone() == (2,)


def test_values_that_the_client_writes_into_the_statement(door: Door, relay: Address) -> None:
    with psycopg.connect(relay.dsn, cursor_factory=ClientCursor) as connection:
        assert connection.execute(RUN, ["EXPLAIN PLAN x"]).fetchall() == PLAN
        connection.execute("CREATE STREAM a AS SELECT STREAM * FROM clicks WHERE page = %s", ["it's"])
    assert door.engine.texts[1] == "CREATE STREAM a AS SELECT STREAM * FROM clicks WHERE page = 'it''s'"


def test_parameters_that_the_server_would_get(door: Door, committing: Connection) -> None:
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="takes no parameters"):
        committing.execute("CREATE STREAM a AS SELECT STREAM * FROM clicks WHERE page = %s", ["x"])
    assert committing.execute("SELECT total FROM revenue WHERE product = %s", ["pear"]).fetchall()
    assert door.engine.asked == []


def test_cursors_of_the_server(connection: Connection) -> None:
    with connection.cursor("some") as cursor:
        cursor.execute(RUN, ["EXPLAIN PLAN x"])
        assert [cursor.fetchone(), cursor.fetchone(), cursor.fetchone()] == [*PLAN, None]


def test_rows_as_they_come(connection: Connection) -> None:
    with connection.cursor() as cursor:
        assert list(cursor.stream("SHOW STREAMS")) == STREAMS
        assert list(cursor.stream(RUN, ["EXPLAIN PLAN x"])) == PLAN


def test_a_rollback_undoes_nothing_of_penstock(door: Door, connection: Connection) -> None:
    connection.execute("CREATE STREAM a")
    connection.execute("CREATE TEMP TABLE own (a int)")
    assert connection.info.transaction_status.name == "INTRANS"
    connection.rollback()
    assert connection.execute("SELECT to_regclass('own')").fetchone() == (None,)
    assert door.engine.texts == ["CREATE STREAM a"]


def test_an_error_ends_a_savepoint_alone(connection: Connection) -> None:
    with connection.transaction():
        connection.execute("CREATE TEMP TABLE own (a int)")
        with pytest.raises(psycopg.errors.InvalidObjectDefinition), connection.transaction():
            connection.execute("CREATE STREAM bad")
        assert connection.execute("SHOW STREAMS").fetchall() == STREAMS
        assert connection.execute("SELECT count(*) FROM own").fetchone() == (0,)


def test_an_error_fails_the_transaction(door: Door, connection: Connection) -> None:
    with pytest.raises(psycopg.errors.InvalidObjectDefinition):
        connection.execute("CREATE STREAM bad")
    for text in ("SELECT 1", "CREATE STREAM a"):
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            connection.execute(text)
    connection.rollback()
    connection.execute("CREATE STREAM b")
    assert door.engine.texts == ["CREATE STREAM bad", "CREATE STREAM b"]


def test_transactions_that_only_read(connection: Connection) -> None:
    connection.read_only = True
    connection.isolation_level = IsolationLevel.SERIALIZABLE
    connection.deferrable = True
    assert connection.execute("SHOW transaction_read_only").fetchone() == ("on",)
    assert connection.execute("SHOW STREAMS").fetchall() == STREAMS
    assert connection.execute(RUN, ["CREATE STREAM a"]).fetchall() == [("CREATE STREAM",)]


def test_a_pipeline(connection: Connection) -> None:
    with connection.pipeline() as pipeline:
        first = connection.execute("SHOW STREAMS")
        second = connection.execute("SELECT 1")
        third = connection.execute(RUN, ["EXPLAIN PLAN x"])
        assert [first.fetchall(), second.fetchall(), third.fetchall()] == [STREAMS, [(1,)], PLAN]
        connection.execute("CREATE STREAM bad")
        with pytest.raises(psycopg.errors.InvalidObjectDefinition):
            pipeline.sync()


def test_copy(connection: Connection) -> None:
    with connection.cursor() as cursor:
        with cursor.copy("COPY (SELECT line FROM penstock.run('EXPLAIN PLAN x')) TO STDOUT") as copy:
            assert list(copy.rows()) == PLAN
        cursor.execute("CREATE TEMP TABLE own (a int, b text)")
        with cursor.copy("COPY own FROM STDIN") as copy:
            copy.write_row((1, "SHOW STREAMS"))
        assert cursor.execute("SHOW STREAMS").fetchall() == STREAMS
        assert cursor.execute("SELECT * FROM own").fetchall() == [(1, "SHOW STREAMS")]


def test_an_error(connection: Connection) -> None:
    with pytest.raises(psycopg.Error) as caught:
        connection.execute("\n  CREATE STREAM bad")
    found = caught.value.diag
    assert (caught.value.sqlstate, found.severity) == ("42P17", "ERROR")
    assert found.message_primary == "K012: a watermark is missing"
    assert (found.message_detail, found.message_hint) == ("of clicks", "WATERMARK FOR")
    assert (found.statement_position, found.context, found.source_function) == ("11", None, None)


def test_warnings(committing: Connection) -> None:
    heard: list[tuple[str | None, str | None]] = []
    committing.add_notice_handler(lambda found: heard.append((found.severity, found.message_primary)))
    committing.execute("CREATE TABLE t WITH (connector = 'memory') AS SELECT 1")
    assert heard == [("WARNING", "the state of this query grows")]


def test_cancel(door: Door, connection: Connection) -> None:
    timer = threading.Timer(0.3, connection.cancel_safe)
    timer.start()
    with pytest.raises(psycopg.errors.QueryCanceled):
        connection.execute("PAUSE QUERY slow")
    timer.join()
    assert [each.text for each in door.engine.withdrawn] == ["PAUSE QUERY slow"]
    connection.rollback()
    timer = threading.Timer(0.3, connection.cancel_safe)
    timer.start()
    with pytest.raises(psycopg.errors.QueryCanceled):
        connection.execute("SELECT pg_sleep(20)")
    timer.join()


def test_many(door: Door, committing: Connection) -> None:
    with committing.cursor() as cursor:
        cursor.executemany(RUN, [["CREATE STREAM a"], ["CREATE STREAM b"]], returning=True)
        assert [result.fetchall() for result in cursor.results()] == [[("CREATE STREAM",)]] * 2
    assert door.engine.texts == ["CREATE STREAM a", "CREATE STREAM b"]


def test_several_statements(committing: Connection) -> None:
    cursor = committing.execute("CREATE STREAM a; SHOW STREAMS; SHOW QUERIES")
    tags = [cursor.statusmessage]
    while cursor.nextset():
        tags.append(cursor.statusmessage)
    assert tags == ["CREATE STREAM", "SHOW", "SHOW"]


def test_asyncio(relay: Address) -> None:
    async def use() -> list[Any]:
        async with await psycopg.AsyncConnection.connect(relay.dsn) as connection:
            cursor = await connection.execute("SHOW STREAMS")
            return await cursor.fetchall()

    assert asyncio.run(use()) == STREAMS


def test_a_pool(relay: Address) -> None:
    with ConnectionPool(relay.dsn, min_size=1, max_size=1, check=ConnectionPool.check_connection) as pool:
        for _ in range(3):
            with pool.connection() as connection:
                assert connection.execute("SHOW STREAMS").fetchall() == STREAMS


LOOKS = [
    *("SELECT * FROM alice.orders", "SELECT * FROM revenue ORDER BY product", "TABLE alice.large", "SHOW timezone"),
    *("SELECT oid, typname, typarray FROM pg_type WHERE oid < 2000", "EXPLAIN SELECT * FROM alice.large"),
]
SETTINGS = ("server_version", "client_encoding", "TimeZone", "DateStyle", "integer_datetimes", "is_superuser")


def look_around(address: Address) -> dict[str, Any]:
    """What psycopg finds out about types and columns, and what the server says of itself."""
    found: dict[str, Any] = {}
    kinds: dict[str, type[TypeInfo]] = {"text": TypeInfo, "alice.size": EnumInfo, "alice.place": CompositeInfo}
    with psycopg.connect(address.dsn, autocommit=True) as connection:
        for name, kind in kinds.items():
            type_ = kind.fetch(connection, name)
            assert type_
            parts = [getattr(type_, part, None) for part in ("labels", "field_names", "field_types")]
            found[name] = (type_.name, type_.oid, type_.array_oid, type_.regtype, *parts)
        range_ = RangeInfo.fetch(connection, "int8range")
        found["int8range"] = range_ and (range_.oid, range_.subtype_oid)
        found["settings"] = [connection.info.parameter_status(name) for name in SETTINGS]
        found["version"] = connection.info.server_version
        for text in LOOKS:
            for binary in (False, True):
                cursor = connection.execute(text, binary=binary, prepare=binary)
                columns = [(*column, column.type_display) for column in cursor.description or ()]
                found[f"{text} {binary}"] = (columns, cursor.statusmessage, cursor.fetchall())
    return found


@pytest.mark.usefixtures("inspected")
def test_looks_are_as_without_the_relay(relay: Address, direct: Address) -> None:
    assert look_around(relay) == look_around(direct)
