"""node-postgres, with its cursors and streams."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.server.clients.address import PLAN, PROGRAMS, STREAMS, Address, run_program
from tests.server.postgres.door import Door

pytestmark = pytest.mark.campaign

Run = Callable[[Address, str], dict[str, Any]]
BAD = ["42P17", "K012: a watermark is missing"]
PROBES: dict[str, Any] = {
    "rows": [dict(zip(("name", "columns"), row, strict=True)) for row in STREAMS],
    "columns": ["SHOW", None, [["name", 25], ["columns", 25]]],
    "no rows": ["CREATE", None, []],
    "plan": PLAN,
    "run": PLAN,
    "run with a parameter": PLAN,
    "no parameters": STREAMS,
    "extended": STREAMS,
    "binary": STREAMS,
    "parameter": ["0A000", "a statement of Penstock takes no parameters"],
    "prepared": STREAMS,
    "run, prepared": PLAN,
    "several": [["CREATE", 0], ["SHOW", 2], ["SHOW", 0]],
    "error": [*BAD, "of clicks", "WATERMARK FOR", "10"],
    "error, prepared": [*BAD, "of clicks", "WATERMARK FOR", "8"],
    "mixed": ["0A000", "a message has statements of Penstock and of PostgreSQL"],
    "warning": [["WARNING", "the state of this query grows"]],
    "sent together": ["SHOW", "SELECT", "CREATE"],
    "cursor: SHOW": [STREAMS[:1], STREAMS[1:], []],
    "cursor: run": [PLAN[:1], PLAN[1:], []],
    "stream: SHOW": STREAMS,
    "stream: run": PLAN,
    "cursor closed early": [[1]],
    "error in a transaction": BAD,
    "after it": "25P02",
    "after the savepoint": STREAMS,
    "rolled back": [[None]],
    "read-only": [STREAMS, [["CREATE STREAM"]]],
    "cancel": "57014",
    "after cancel": STREAMS,
    "pool": [2],
}


@pytest.fixture
def run(installed: Callable[[str], Path]) -> Run:
    """Runs the probes."""
    packages = str(installed("node") / "node_modules")

    def run_part(address: Address, part: str) -> dict[str, Any]:
        return run_program(address, "node", str(PROGRAMS / "node_probes.js"), part, NODE_PATH=packages)

    return run_part


def test_statements(door: Door, relay: Address, run: Run) -> None:
    assert run(relay, "statements") == PROBES
    assert [each.text for each in door.engine.withdrawn] == ["PAUSE QUERY slow"]
    assert "CREATE STREAM d" not in door.engine.texts


@pytest.mark.usefixtures("inspected")
def test_looks_are_as_without_the_relay(relay: Address, direct: Address, run: Run) -> None:
    found = run(relay, "looks")
    assert found == run(direct, "looks")
    assert len(found) == 9
