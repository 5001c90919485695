"""The engine's process is started again when it ends, but not when it refuses its files."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from penstock.server import engine_supervisor
from penstock.server.client_limits import Limits
from penstock.server.database.warden import Warden
from penstock.server.engine_supervisor import EngineRefusedError, EngineSupervisor
from penstock.server.postgres.relay import Upstream
from penstock.server.running.home import Home
from penstock.server.running.settings import REFUSED
from penstock.server.serving import DatabasePlace, announce_engine
from tests.databases.conftest import server as server  # the embedded PostgreSQL
from tests.server.running.engines import open_catalog


def test_an_engine_that_ends_for_no_known_reason_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python ends with 1 after an exception, here of settings that cannot be read. Files are run until one is ready."""
    monkeypatch.setattr(engine_supervisor, "PAUSES", (0,))
    starts: list[bool] = []

    def tell(has_to_run_files: bool) -> str:
        starts.append(has_to_run_files)
        supervisor.was_ready = len(starts) == 2
        return "nonsense"

    supervisor = EngineSupervisor(tell, tmp_path / "log")

    async def run() -> None:
        running = asyncio.create_task(supervisor.run())
        while len(starts) < 3 and not running.done():
            await asyncio.sleep(0.05)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(asyncio.wait_for(run(), 60))
    assert starts == [True, True, False]
    assert "DecodeError" in (tmp_path / "log").read_text(encoding="utf-8")


class RefusedEngine(EngineSupervisor):
    """Its process refuses a file at once."""

    async def _run_once(self) -> int:
        with self._log.open("a", encoding="utf-8") as log:
            log.write("error[K011]: übung already exists\n")
        return REFUSED


def test_why_files_are_refused_is_whole(tmp_path: Path) -> None:
    """Whatever characters of several bytes the log has from earlier."""
    (tmp_path / "log").write_text("Früher: – “größer” 🙂\n" * 3, encoding="utf-8")
    engine = RefusedEngine(lambda _: "", tmp_path / "log")
    with pytest.raises(EngineRefusedError) as refused:
        asyncio.run(engine.run())
    assert str(refused.value) == "error[K011]: übung already exists"


class GivenEngine(EngineSupervisor):
    """Its process has the number 7."""

    @property
    def process(self) -> int:
        return 7


def test_an_engine_is_announced_when_the_own_one_is_ready(server: str, tmp_path: Path) -> None:
    """Not by the row of one that was killed."""
    shown: list[str] = []

    async def run() -> None:
        engine = GivenEngine(lambda _: "", tmp_path / "log")
        place = DatabasePlace(
            Home("", None, 1), url, "postgres", Upstream(""), "", None, Warden("", (), Limits(), is_embedded=False)
        )
        announced = asyncio.create_task(announce_engine(place, engine, shown.append))
        await asyncio.sleep(1.2)
        assert (shown, engine.was_ready) == ([], False)
        catalog.db.execute("UPDATE penstock.engine SET process = 7")
        await asyncio.wait_for(announced, 20)
        assert (shown, engine.was_ready) == (["engine      ready, 0 queries"], True)

    with open_catalog(server) as catalog:
        url = catalog.url
        catalog.db.execute("INSERT INTO penstock.engine (state, process) VALUES ('READY', 6)")
        asyncio.run(run())


def test_an_engine_that_refuses_its_files_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = tmp_path / "engine"
    engine.write_text(f"#!/bin/sh\necho 'error[K012]'\nexit {REFUSED}\n", encoding="utf-8")
    engine.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(engine))
    (tmp_path / "log").write_text("before\n", encoding="utf-8")
    supervisor = EngineSupervisor(lambda is_first: "", tmp_path / "log")
    with pytest.raises(EngineRefusedError, match=r"^error\[K012\]$"):
        asyncio.run(supervisor.run())
