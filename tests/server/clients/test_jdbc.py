"""pgjdbc, the driver of Metabase, DBeaver and DataGrip."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.server.clients.address import PLAN, PROGRAMS, STREAMS, Address, run_program
from tests.server.postgres.door import Door

pytestmark = pytest.mark.campaign

Run = Callable[..., dict[str, Any]]
TEXT = ["text", "java.lang.String", 2, False, 2147483647]
NAMES = ["name", *TEXT, "columns", *TEXT]
BAD = ["42P17", "K012: a watermark is missing", "WATERMARK FOR"]
ALONE = "send the statements of Penstock in a message of their own"
CHANGES = "read the changes of a table from GET /v1/tables/{name}/changes"
EACH = {
    "rows": STREAMS,
    "columns": NAMES,
    "plan": PLAN,
    "execute": [False, 0],
    "executeUpdate": 0,
    "comment": STREAMS,
    "run": PLAN,
    "most rows": [1, 1],
    "fetched one by one": STREAMS,
    "run, fetched": PLAN,
    "with a timeout": STREAMS,
    "batch": [0, 0],
    "run with a parameter": PLAN,
    "prepared": STREAMS,
    "several": [False, True, STREAMS],
    "warning": "the state of this query grows",
}
PROBES = {
    **{f"{kind}: {name}": value for kind in ("autocommit", "transaction") for name, value in EACH.items()},
    "error": [*BAD, 10],
    "error of run": [*BAD, 36],
    "mixed": ["no error"],
    "stream": ["0A000", "SELECT STREAM has no end, and this connection waits for one", CHANGES, 1],
    "parameter": ["0A000", "a statement of Penstock takes no parameters"],
    "cancel": "57014",
    "timeout": "57014",
    "after it": STREAMS,
    "run of several": -1,
    "copy": "KStream\n  Scan clicks\n",
    "error in a transaction": [*BAD, 8],
    "behind it": STREAMS,
    "rolled back": [[None]],
    "read-only": STREAMS,
    "run, read-only": [["CREATE STREAM"]],
    "valid": True,
}


@pytest.fixture
def run(installed: Callable[[str], Path]) -> Run:
    """Runs the probes. Java compiles them each time."""
    (archive,) = installed("jdbc").glob("*.jar")

    def run_part(address: Address, part: str, options: str = "") -> dict[str, Any]:
        program = str(PROGRAMS / "JdbcProbes.java")
        command = ("java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", str(archive), program, part, options)
        return run_program(address, *command, JAVA_TOOL_OPTIONS="")

    return run_part


DESCRIPTIONS = {
    "types of parameters": ["text", "text"],
    "columns before it runs": ["line", *TEXT],
    "no parameters": 0,
    "columns of SHOW": NAMES,
}
# In these modes pgjdbc sends a text as one message, and asks for all rows.
SIMPLE = {
    "mixed": ["0A000", "a message has statements of Penstock and of PostgreSQL", ALONE, 11],
    **{f"{kind}: most rows": [2, 2] for kind in ("autocommit", "transaction")},
}


MODES = {
    **dict.fromkeys(("", "prepareThreshold=1", "autosave=always", "defaultRowFetchSize=1"), DESCRIPTIONS),
    **dict.fromkeys(("stringtype=unspecified", "preferQueryMode=extendedCacheEverything"), DESCRIPTIONS),
    "preferQueryMode=extendedForPrepared": {**DESCRIPTIONS, **SIMPLE},
    "preferQueryMode=simple": {**SIMPLE, "parameter": [False]},
}


@pytest.mark.parametrize("options", MODES)
def test_statements(door: Door, relay: Address, run: Run, options: str) -> None:
    assert run(relay, "statements", options) == PROBES | MODES[options]
    assert [each.text for each in door.engine.withdrawn] == ["PAUSE QUERY slow"] * 2


@pytest.mark.usefixtures("inspected")
@pytest.mark.parametrize("options", ["", "preferQueryMode=simple", "prepareThreshold=-1"])
def test_looks_are_as_without_the_relay(relay: Address, direct: Address, run: Run, options: str) -> None:
    found = run(relay, "looks", options)
    assert found == run(direct, "looks", options)
    assert [name for name, value in found.items() if not value] == []
