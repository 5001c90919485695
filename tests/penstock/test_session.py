"""Sessions with Spark in this process, as programs use them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import penstock

DECLARED = """CREATE STREAM orders (id BIGINT KEY, price BIGINT)
WITH (connector = 'files', path = '{folder}/orders', format = 'json', files_per_batch = 1);
"""
TOTALS = "CREATE TABLE totals AS SELECT id, SUM({sum}) AS total FROM orders GROUP BY id;"


@pytest.fixture
def session(only_spark: object, tmp_path: Path) -> Iterator[penstock.Session]:
    with penstock.connect() as session:
        put(tmp_path, 1)
        session.submit(DECLARED.format(folder=tmp_path))
        yield session


def put(folder: Path, *ids: int) -> None:
    """Adds an order for each id."""
    (folder / "orders").mkdir(exist_ok=True)
    for number in ids:
        (folder / "orders" / f"{number}.json").write_text(json.dumps({"id": number, "price": 10}) + "\n")


pytestmark = pytest.mark.spark


def test_a_run_to_the_end_gives_accounts_and_rows(session: penstock.Session, tmp_path: Path) -> None:
    put(tmp_path, 2, 3)
    (report,) = session.run_once(TOTALS.format(sum="price"))
    assert (report.name, report.out, report.inputs[0].used) == ("totals", 3, 3)
    assert session.tables() == ["totals"]
    assert session.queries() == []
    assert session.sql("SELECT COUNT(*) AS n, SUM(total) AS total FROM totals") == [{"n": 3, "total": 30}]
    with pytest.raises(penstock.CompileError, match="K"):
        session.run_once("CREATE TABLE totals AS SELECT nothing FROM orders;")


def test_rows_are_awaited(session: penstock.Session, tmp_path: Path) -> None:
    assert repr(session).endswith(": 0 queries, 0 tables>")
    (query,) = session.submit(TOTALS.format(sum="price"))
    assert query.await_rows(timeout=60)
    assert not query.await_rows(n=2, timeout=0)
    assert repr(query) == "<QueryHandle totals: running, 1 rows in, 1 out>"
    assert repr(session).endswith(": 1 query, 1 table>")
    assert session.queries() == [query]
    put(tmp_path, 2)
    assert query.await_rows(n=2, timeout=60)
    query.stop()
    assert not query.await_rows(n=3)
    assert repr(query) == "<QueryHandle totals: stopped, 2 rows in, 2 out>"
    assert session.queries() == []


def test_a_failure_ends_the_wait(session: penstock.Session, tmp_path: Path) -> None:
    (query,) = session.submit(TOTALS.format(sum="price / (price - 10)"))
    with pytest.raises(penstock.RunError) as failure:
        query.await_rows(timeout=60)
    assert str(failure.value).startswith("R020: division by zero in totals\n  --> <sql>:1:")
    assert "^^^" in str(failure.value)
    assert repr(query) == "<QueryHandle totals: failed, R020, 0 rows in, 0 out>"


def test_answers_are_given(session: penstock.Session) -> None:
    result = session.run("SHOW STREAMS; DESCRIBE orders;")
    assert (result.queries, result.warnings, len(result.answers)) == ((), (), 2)
    assert result.answers[0].splitlines()[-1].split()[0] == "orders"


def test_a_closed_session_says_so(only_spark: object) -> None:
    with penstock.connect() as session:
        pass
    assert repr(session) == "<Session: closed>"


def test_calls_are_awaited(only_spark: object, tmp_path: Path) -> None:
    put(tmp_path, 1, 2)

    async def use() -> None:
        async with penstock.connect_async() as session:
            assert repr(session).endswith(": 0 queries, 0 tables>>")
            (query,) = await session.submit(DECLARED.format(folder=tmp_path) + TOTALS.format(sum="price"))
            assert await query.await_rows(2, timeout=60)
            assert not await query.await_rows(3, timeout=0.1)
            assert not await query.await_done(timeout=0.1)
            assert (await query.status()).out == 2
            assert [each.name for each in await session.queries()] == ["totals"]
            await query.stop()
            assert not await query.await_rows(3)
            assert await query.await_done()
            (report,) = await session.run_once(
                "CREATE TABLE again AS SELECT id, COUNT(*) AS n FROM orders GROUP BY id;"
            )
            assert report.out == 2
            assert await session.sql("SELECT SUM(n) AS n FROM again") == [{"n": 2}]
            assert await session.tables() == ["totals", "again"]

    asyncio.run(use())


def test_a_task_that_is_cancelled_stops_its_run(only_spark: object, tmp_path: Path) -> None:
    put(tmp_path, *range(200))

    async def use() -> None:
        async with penstock.connect_async() as session:
            script = DECLARED.format(folder=tmp_path) + TOTALS.format(sum="price")
            running = asyncio.create_task(session.run_once(script))
            await asyncio.sleep(5)
            began = time.monotonic()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert time.monotonic() - began < 30
            assert await session.tables() == []

    asyncio.run(use())


def test_a_session_is_opened_by_async_with() -> None:
    session = penstock.connect_async()
    assert repr(session) == "<AsyncSession: not open>"
    with pytest.raises(RuntimeError, match="the session is opened by"):
        _ = session.session
    with pytest.raises(TypeError, match="a token goes with the URL"):
        penstock.connect_async(token="pst_x")
