"""Says at the end of a run how many generated histories and texts were tried, in all processes of the run."""

from __future__ import annotations

from typing import Any

import pytest

from tests.properties.mutations import compiled
from tests.properties.streams import tried


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hands the counts of a worker process to the process that started it."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["tried"], output["compiled"] = dict(tried), dict(compiled)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Adds up what the worker processes tried."""
    output = getattr(node, "workeroutput", {})
    tried.update(output.get("tried", {}))
    compiled.update(output.get("compiled", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line each: kind and number."""
    if tried:
        terminalreporter.write_line(
            "stream histories tried: " + ", ".join(f"{kind} {number}" for kind, number in tried.items())
        )
    if compiled:
        terminalreporter.write_line(
            "texts compiled: " + ", ".join(f"{outcome} {number}" for outcome, number in compiled.most_common())
        )


@pytest.fixture
def killing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each query over tables dies once."""
    from tests.properties.killed import dying  # here, because it imports Spark

    dying(monkeypatch)
