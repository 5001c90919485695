"""psqlODBC, by way of pyodbc."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.server.clients.address import PLAN, STREAMS, Address, run_module
from tests.server.postgres.door import Door

pytestmark = pytest.mark.campaign

Run = Callable[..., dict[str, Any]]
EACH = {
    "rows": STREAMS,
    "columns": [["name", "str"], ["columns", "str"]],
    "no rows": None,
    "plan": PLAN,
    "run": PLAN,
    "run with a parameter": PLAN,
    "error": ["42P17", "K012: a watermark is missing\nDETAIL: of clicks"],
    "after an error": [["Äpfel"]],
    "several": [True, True, STREAMS],
    "after many": STREAMS,
}
PROBES = {
    **{f"{kind}: {name}": value for kind in ("autocommit", "transaction") for name, value in EACH.items()},
    "cancel": "57014",
    "rolled back": [[None]],
    "read-only": [STREAMS, [["CREATE STREAM"]]],
}
PARAMETER = ["0A000", "a statement of Penstock takes no parameters"]


@pytest.fixture
def run(installed: Callable[[str], Path]) -> Run:
    """Runs the probes."""
    odbc = installed("odbc")
    (driver,) = odbc.glob("usr/lib/*/odbc/psqlodbcw.so")
    variables = {"ODBC_DRIVER": str(driver), "LD_LIBRARY_PATH": str(driver.parents[1])}

    def run_part(address: Address, part: str, options: str = "") -> dict[str, Any]:
        return run_module(address, "odbc_probes", installed("python"), part, options, **variables)

    return run_part


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ("", PARAMETER),
        ("UseServerSidePrepare=0", ["no error"]),
        ("UseDeclareFetch=1;Fetch=1", PARAMETER),
        ("Protocol=7.4-1", PARAMETER),
    ],
)
def test_statements(door: Door, relay: Address, run: Run, options: str, parameter: list[str]) -> None:
    assert run(relay, "statements", options) == {**PROBES, "parameter": parameter}
    assert [each.text for each in door.engine.withdrawn] == ["PAUSE QUERY slow"]


@pytest.mark.usefixtures("inspected")
@pytest.mark.parametrize("options", ["", "UseDeclareFetch=1;Fetch=1"])
def test_looks_are_as_without_the_relay(relay: Address, direct: Address, run: Run, options: str) -> None:
    found = run(relay, "looks", options)
    assert found == run(direct, "looks", options)
    assert [name for name, value in found.items() if not value] == ["row ids"]
    assert found["SQL_DRIVER_VER"].startswith("13.02")
