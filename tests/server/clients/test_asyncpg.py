"""asyncpg, which prepares each statement and reads each value in binary."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest

from tests.server.clients.address import Address
from tests.server.postgres.door import PASSWORDS, Door

STREAMS = [("clicks", "at TIMESTAMP, page STRING"), ("Wörter", None)]
PLAN = [("KStream",), ("  Scan clicks",)]
RUN = "SELECT line FROM penstock.run($1)"


def options(address: Address) -> dict[str, Any]:
    """What asyncpg needs to connect. Its certificate is nobody's."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    place = {"host": "127.0.0.1", "port": address.port, "ssl": context if address.tls else False}
    return {**place, "user": "alice", "password": PASSWORDS["alice"], "database": "postgres"}


def use(address: Address, work: Callable[[Any], Awaitable[Any]]) -> Any:
    """Does something with a connection."""

    async def run() -> Any:
        connection = await asyncpg.connect(**options(address))
        try:
            return await work(connection)
        finally:
            await connection.close()

    return asyncio.run(run())


def tuples(rows: list[Any]) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in rows]


def test_rows(relay: Address) -> None:
    async def work(connection: Any) -> None:
        assert tuples(await connection.fetch("SHOW STREAMS")) == STREAMS
        assert dict(await connection.fetchrow("SHOW STREAMS")) == {"name": "clicks", "columns": STREAMS[0][1]}
        assert await connection.fetchval("EXPLAIN PLAN SELECT 1") == "KStream"
        assert await connection.execute("CREATE STREAM a") == "CREATE STREAM"
        assert await connection.fetch("CREATE STREAM a") == []
        assert await connection.execute("CREATE STREAM b; SHOW STREAMS") == "SHOW"

    use(relay, work)


def test_a_statement_of_the_cache(door: Door, relay: Address) -> None:
    async def work(connection: Any) -> None:
        for _ in range(7):
            assert tuples(await connection.fetch("SHOW STREAMS")) == STREAMS
            assert tuples(await connection.fetch(RUN, "EXPLAIN PLAN x")) == PLAN

    use(relay, work)
    assert door.engine.texts == ["SHOW STREAMS", "EXPLAIN PLAN x"] * 7


def test_a_prepared_statement(relay: Address) -> None:
    async def work(connection: Any) -> None:
        prepared = await connection.prepare("SHOW STREAMS")
        assert [(column.name, column.type.name) for column in prepared.get_attributes()] == [
            *(("name", "text"), ("columns", "text"))
        ]
        assert prepared.get_parameters() == ()
        assert tuples(await prepared.fetch()) == STREAMS
        assert prepared.get_statusmsg() == "SHOW"
        prepared = await connection.prepare(RUN)
        assert [each.name for each in prepared.get_parameters()] == ["text"]
        assert await prepared.fetchval("CREATE STREAM a") == "CREATE STREAM"
        assert await connection.prepare("CREATE STREAM b", name="mine")

    use(relay, work)


def test_cursors(relay: Address) -> None:
    async def work(connection: Any) -> None:
        async with connection.transaction():
            for text, values, expected in (("SHOW STREAMS", (), STREAMS), (RUN, ("EXPLAIN PLAN x",), PLAN)):
                cursor = await connection.cursor(text, *values)
                assert tuples(await cursor.fetch(1)) == expected[:1]
                assert tuples(await cursor.fetch(5)) == expected[1:]
                assert [tuple(row) async for row in connection.cursor(text, *values, prefetch=1)] == expected

    use(relay, work)


def test_transactions(door: Door, relay: Address) -> None:
    async def work(connection: Any) -> None:
        async with connection.transaction():
            with pytest.raises(asyncpg.InvalidObjectDefinitionError):
                async with connection.transaction():
                    await connection.execute("CREATE STREAM bad")
            assert tuples(await connection.fetch("SHOW STREAMS")) == STREAMS
        transaction = connection.transaction()
        await transaction.start()
        with pytest.raises(asyncpg.InvalidObjectDefinitionError):
            await connection.fetch("CREATE STREAM bad")
        with pytest.raises(asyncpg.InFailedSQLTransactionError):
            await connection.fetch("CREATE STREAM d")
        await transaction.rollback()
        async with connection.transaction(isolation="serializable", readonly=True, deferrable=True):
            assert tuples(await connection.fetch("SHOW STREAMS")) == STREAMS
            assert await connection.fetchval(RUN, "CREATE STREAM a") == "CREATE STREAM"

    use(relay, work)
    assert "CREATE STREAM d" not in door.engine.texts


def test_an_error(relay: Address) -> None:
    async def work(connection: Any) -> None:
        with pytest.raises(asyncpg.InvalidObjectDefinitionError) as caught:
            await connection.fetch("  CREATE STREAM bad")
        found = caught.value
        assert (found.sqlstate, found.message) == ("42P17", "K012: a watermark is missing")
        assert (found.detail, found.hint, found.position) == ("of clicks", "WATERMARK FOR", "10")
        with pytest.raises(asyncpg.FeatureNotSupportedError, match="takes no parameters"):
            await connection.fetch("CREATE STREAM a AS SELECT STREAM $1 FROM clicks", "x")
        assert await connection.fetchval("SELECT 1") == 1

    use(relay, work)


def test_warnings(relay: Address) -> None:
    heard: list[str] = []

    async def work(connection: Any) -> None:
        connection.add_log_listener(lambda _, message: heard.append(message.message))
        await connection.fetch("CREATE TABLE t WITH (connector = 'memory') AS SELECT 1")
        await asyncio.sleep(0)

    use(relay, work)
    assert heard == ["the state of this query grows"]


def test_cancel(door: Door, relay: Address) -> None:
    async def work(connection: Any) -> None:
        with pytest.raises(TimeoutError):
            await connection.execute("PAUSE QUERY slow", timeout=0.3)
        with pytest.raises(TimeoutError):
            await connection.fetch(RUN, "PAUSE QUERY slow", timeout=0.3)
        assert tuples(await connection.fetch("SHOW STREAMS")) == STREAMS

    use(relay, work)
    assert [each.text for each in door.engine.withdrawn] == ["PAUSE QUERY slow"] * 2


def test_many_and_copy(door: Door, relay: Address) -> None:
    async def work(connection: Any) -> None:
        await connection.executemany(RUN, [("CREATE STREAM a",), ("CREATE STREAM b",)])
        written = bytearray()
        await connection.copy_from_query(RUN, "EXPLAIN PLAN x", output=lambda data: take(written, data))
        assert bytes(written) == b"KStream\n  Scan clicks\n"
        await connection.execute("CREATE TEMP TABLE own (a text)")
        assert await connection.copy_records_to_table("own", records=[("SHOW STREAMS",)]) == "COPY 1"

    async def take(written: bytearray, data: bytes) -> None:
        written.extend(data)

    use(relay, work)
    assert door.engine.texts == ["CREATE STREAM a", "CREATE STREAM b", "EXPLAIN PLAN x"]


def test_a_pool(relay: Address) -> None:
    async def work() -> list[int]:
        async with asyncpg.create_pool(**options(relay), min_size=1, max_size=3) as pool:
            found = await asyncio.gather(*(pool.fetch("SHOW STREAMS") for _ in range(12)))
            return [len(rows) for rows in found]

    assert asyncio.run(work()) == [2] * 12


LOOKS = [
    *("SELECT * FROM alice.orders", "TABLE revenue", "TABLE alice.large", "SELECT ARRAY[sent_to] FROM alice.orders"),
    *("SELECT ARRAY['small'::alice.size]", "SELECT 12.5::alice.percent", "SELECT int8range(1, 2), '{}'::jsonb[]"),
]


async def look_around(connection: Any) -> dict[str, Any]:
    """What asyncpg finds out about types, and what the server says of itself."""
    settings = connection.get_settings()
    found: dict[str, Any] = {
        "version": connection.get_server_version(),
        "settings": [settings.server_version, settings.TimeZone, settings.application_name],
    }
    for text in LOOKS:
        prepared = await connection.prepare(text)
        found[text] = (prepared.get_attributes(), tuples(await prepared.fetch()))
    await connection.set_type_codec("size", schema="alice", encoder=str, decoder=str.upper)
    await connection.reload_schema_state()
    found["codec"] = await connection.fetchval("SELECT 'small'::alice.size")
    found["composite"] = await connection.fetchval("SELECT $1::alice.place", ("High St", 7))
    return found


@pytest.mark.usefixtures("inspected")
def test_looks_are_as_without_the_relay(relay: Address, direct: Address) -> None:
    found = use(relay, look_around)
    assert found == use(direct, look_around)
    assert (found["codec"], tuple(found["composite"])) == ("SMALL", ("High St", 7))
