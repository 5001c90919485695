"""What the bench of a server makes of its measurements."""

from __future__ import annotations

import asyncio

from bench.serving import Found, tabulate


def test_errors_are_told_apart() -> None:
    async def answer(state: str | None) -> str | None:
        return state

    async def fail() -> str | None:
        raise OSError("gone")

    async def run() -> Found:
        found = Found()
        for name in ("read, relay", "read, direct", "fresh, idle", "fresh, load"):
            for _ in range(2):
                assert await found.time(name, lambda: answer(None))
        assert not await found.time("DROP VIEW, HTTP", lambda: answer("57P03"))
        assert not await found.time("DROP VIEW, HTTP", lambda: answer("XX000"))
        assert not await found.time("DROP VIEW, HTTP", fail)
        return found

    found = asyncio.run(run())
    assert found.failures == ["DROP VIEW, HTTP: XX000", "DROP VIEW, HTTP: OSError('gone')"]
    *rows, _, last = tabulate(found, 60)
    assert [row.split(" | ")[1] for row in rows[2:]] == ["2", "2", "2", "2"]
    assert last == ("Refused in 60 s: 1 × the engine has not answered in time. Errors that are not documented: 2.")
