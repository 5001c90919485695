"""Says at the end of a run how many generated histories and texts were tried."""

from __future__ import annotations

import pytest

from tests.properties.mutations import compiled
from tests.properties.streams import tried


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
