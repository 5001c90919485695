"""psycopg2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.server.clients.address import PLAN, STREAMS, Address, run_module
from tests.server.postgres.door import Door

pytestmark = pytest.mark.campaign

Installed = Callable[[str], Path]
REFUSED = ["InvalidObjectDefinition", "42P17", "K012: a watermark is missing"]
PROBES = {
    "columns": [["name", 25], ["columns", 25]],
    "rows": ["SHOW", 2, STREAMS],
    "no rows": ["CREATE STREAM", -1, None],
    "a message of PostgreSQL": [[2]],
    "several statements": ["SHOW", STREAMS],
    "a warning": ["WARNING:  the state of this query grows\n"],
    "run": PLAN,
    "an error": [*REFUSED, "10"],
    "dicts": {"name": "clicks", "columns": "at TIMESTAMP, page STRING"},
    "in a transaction": STREAMS,
    "its state": True,
    "its error": [*REFUSED, "8"],
    "after its error": [
        *("InFailedSqlTransaction", "25P02"),
        *("current transaction is aborted, commands ignored until end of transaction block", None),
    ],
    "rolled back": [[None]],
    "error behind a savepoint": [*REFUSED, "8"],
    "after the savepoint": STREAMS,
    "read-only": [STREAMS, [["CREATE STREAM"]]],
    "cursor of the server": PLAN,
    "cursor that outlives its transaction": PLAN,
    "cursor for SHOW": ["42601", "42601"],
    "copy": "KStream\n  Scan clicks\n",
    "copied": [["SHOW STREAMS"]],
    "values": [["é"]],
    "many": "SELECT 1",
    "batch of calls": ["FeatureNotSupported", "0A000"],
    "cancel": ["QueryCanceled", "57014"],
    "after it": STREAMS,
}


def test_statements(door: Door, relay: Address, installed: Installed) -> None:
    assert run_module(relay, "psycopg2_probes", installed("python"), "statements") == PROBES
    with_values = "CREATE STREAM a AS SELECT STREAM * FROM clicks WHERE page = 'it''s' AND n % 2 = 1"
    assert with_values in door.engine.texts
    assert door.engine.texts.count("DROP STREAM a") == 2
    assert door.engine.texts[-4:-2] == ["CREATE STREAM a", "CREATE STREAM b"]
    assert [each.text for each in door.engine.withdrawn] == ["PAUSE QUERY slow"]


@pytest.mark.usefixtures("inspected")
def test_looks_are_as_without_the_relay(relay: Address, direct: Address, installed: Installed) -> None:
    found = run_module(relay, "psycopg2_probes", installed("python"), "looks")
    assert found == run_module(direct, "psycopg2_probes", installed("python"), "looks")
    assert len(found["SELECT * FROM alice.orders"][1]) == 2
