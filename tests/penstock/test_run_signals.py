"""Signals before Spark starts end a run as Ctrl-C does."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from penstock.codegen.program import Program
from penstock.commands import run_program as module
from penstock.commands.run_program import INTERRUPTED, run_program


@pytest.fixture
def received() -> Iterator[list[int]]:
    """The signals that nothing but the surroundings of a run has taken."""
    taken: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: taken.append(number))
    yield taken
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_the_checks_ends_a_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], received: list[int], number: signal.Signals
) -> None:
    monkeypatch.setattr(module, "check_before_start", lambda *_, **__: os.kill(os.getpid(), number))
    code = run_program(
        Program((), (), ()),
        once=True,
        checkpoint=None,
        reset=False,
        overwrite=False,
        master=None,
        drain=None,
        settings={},
    )
    assert (code, received) == (INTERRUPTED, [])
    assert "stopped before the end" in capsys.readouterr().err
    os.kill(os.getpid(), signal.SIGTERM)
    assert received == [signal.SIGTERM]
