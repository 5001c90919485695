"""The engine's process is started again when it ends, but not when it refuses its files."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from penstock.server import engine_supervisor
from penstock.server.engine_supervisor import EngineRefusedError, EngineSupervisor
from penstock.server.running.settings import REFUSED


def test_an_engine_that_ends_for_no_known_reason_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python ends with 1 after an exception, here of settings that cannot be read."""
    monkeypatch.setattr(engine_supervisor, "PAUSES", (0,))
    starts: list[bool] = []

    def tell(is_first: bool) -> str:
        starts.append(is_first)
        return "nonsense"

    async def run() -> None:
        supervisor = EngineSupervisor(tell, tmp_path / "log")
        running = asyncio.create_task(supervisor.run())
        while len(starts) < 2 and not running.done():
            await asyncio.sleep(0.05)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(asyncio.wait_for(run(), 60))
    assert starts == [True, False]
    assert "JSONDecodeError" in (tmp_path / "log").read_text(encoding="utf-8")


def test_an_engine_that_refuses_its_files_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = tmp_path / "engine"
    engine.write_text(f"#!/bin/sh\necho 'error[K012]'\nexit {REFUSED}\n", encoding="utf-8")
    engine.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(engine))
    (tmp_path / "log").write_text("before\n", encoding="utf-8")
    supervisor = EngineSupervisor(lambda is_first: "", tmp_path / "log")
    with pytest.raises(EngineRefusedError, match=r"^error\[K012\]$"):
        asyncio.run(supervisor.run())
