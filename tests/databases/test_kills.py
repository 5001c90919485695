"""A writer is killed at named points and begun again: each batch is applied once. PENSTOCK_TABLE_KILLS: how often."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.databases.killed import KEYS, POINTS
from tests.databases.places import DDL, Place
from tests.house.files import ROOT

KILLS = int(os.environ.get("PENSTOCK_TABLE_KILLS", "4"))


@pytest.mark.draws
def test_counters_are_exact_whenever_the_writer_is_killed(place: Place) -> None:
    place.execute(DDL, f"INSERT INTO t VALUES {', '.join(f'({k}, 0, NULL)' for k in range(KEYS))}")
    batches = KILLS + 1

    def run(point: str, batch: int) -> int:
        command = [sys.executable, "-m", "tests.databases.killed", place.dialect, place.url, point, str(batch)]
        return subprocess.run([*command, str(batches)], cwd=ROOT, check=False).returncode

    for kill in range(KILLS):
        point = POINTS[kill % len(POINTS)]
        assert run(point, kill) == -signal.SIGKILL
        written = kill + (point == "after COMMIT")
        assert place.rows("SELECT DISTINCT v FROM t") == [(written,)], point
        assert place.rows("SELECT count(*) FROM penstock_ledger WHERE batch >= 0") == [(written,)]
    assert run("", -1) == 0
    assert place.rows("SELECT v, count(*) FROM t GROUP BY v") == [(batches, KEYS)]
    # All writers have taken an epoch.
    assert place.rows("SELECT epoch FROM penstock_ledger WHERE batch = -1") == [(KILLS + 1,)]
