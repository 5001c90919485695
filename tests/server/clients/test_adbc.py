"""ADBC's driver of PostgreSQL, alone and with pandas."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.server.clients.address import PLAN, STREAMS, Address, run_module
from tests.server.postgres.door import Door

pytestmark = pytest.mark.campaign

Installed = Callable[[str], Path]
EACH = {
    "COPY: run": PLAN,
    "COPY: run with a parameter": PLAN,
    "rows: run": PLAN,
    "rows: run with a parameter": PLAN,
}
OTHERS = {
    "rows": STREAMS,
    "plan": PLAN,
    # By default ADBC reads rows by COPY, which takes no SHOW of PostgreSQL either.
    "COPY of SHOW STREAMS": ["ProgrammingError", "42601"],
    "COPY of SHOW timezone": ["ProgrammingError", "42601"],
    "no rows": [-1, []],
    "parameters": ["NotSupportedError", "0A000"],
    "error": ["ProgrammingError", "42P17"],
}
PROBES = {
    **{f"{kind}, {name}": value for kind in ("transaction", "autocommit") for name, value in EACH.items()},
    **{f"{kind}: {name}": value for kind in ("transaction", "autocommit") for name, value in OTHERS.items()},
    "error in a transaction": ["ProgrammingError", "42P17"],
    "behind it": [["ProgrammingError", None]] * 2,
    "rolled back": [[None]],
    "pandas, run": ["KStream", "  Scan clicks"],
    "cancel": ["OperationalError", "57014"],
    "after it": STREAMS,
}


def test_statements(door: Door, relay: Address, installed: Installed) -> None:
    assert run_module(relay, "adbc_probes", installed("python"), "statements", relay.url()) == PROBES
    assert [each.text for each in door.engine.withdrawn] == ["PAUSE QUERY slow"]
    assert "CREATE STREAM d" not in door.engine.texts


@pytest.mark.usefixtures("inspected")
def test_looks_are_as_without_the_relay(relay: Address, direct: Address, installed: Installed) -> None:
    found = run_module(relay, "adbc_probes", installed("python"), "looks", relay.url())
    assert found == run_module(direct, "adbc_probes", installed("python"), "looks", direct.url())
    assert len(found["ingested"]) == 2
