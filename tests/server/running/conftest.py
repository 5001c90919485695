"""What tests of statements in force begin with."""

from __future__ import annotations

import pytest

from penstock.server.running.live_script import LiveScript
from tests.server.running.scripts import HOME, declare_clicks, tell


@pytest.fixture
def script() -> LiveScript:
    """A script with the stream `clicks`."""
    script = LiveScript(HOME)
    tell(script, declare_clicks())
    return script
