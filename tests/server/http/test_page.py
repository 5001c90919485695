"""docs/http.md is right: its commands print what stands below them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from penstock.server.engine_protocol import StatementAnswer
from penstock.server.http.metrics import DoorMetrics
from tests.house.files import ROOT
from tests.server.http.conftest import Door
from tests.server.http.fake_engine import STATUS
from tests.server.http.test_statements import ORDERS, TOTALS

PAGE = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands() -> list[tuple[str, str]]:
    """Each command of the page with what stands below it."""
    parts = [part for block in BLOCK.findall(PAGE) for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


@pytest.mark.skipif(not shutil.which("curl"), reason="apt-get install curl")
def test_the_commands_print_what_stands_below_them(door: Door, tmp_path: Path) -> None:
    """All of them in one go: later ones need what earlier ones have made. `…` stands for anything."""
    (tmp_path / "orders.sql").write_text(f"{ORDERS};\n{TOTALS};\n", encoding="utf-8")
    for row in (("chair", 120, 1), ("desk", None, 0), ("lamp", 80.5, 2)):
        door.database.execute("INSERT INTO totals VALUES (%s, %s, %s)", *row)
    shown = (("totals", "product STRING, total DECIMAL(20,2)"),)
    door.engine.answers["SHOW TABLES"] = StatementAnswer("SHOW", ("name", "columns"), shown)
    assert len(commands()) > 15
    assert STATUS["lag_seconds"] == 10
    environment = {**os.environ, "PENSTOCK": door.url, "AUTH": "Authorization: Bearer pst_sam"}
    for command, expected in commands():
        shell = ["bash", "-c", command]
        run = subprocess.run(shell, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        pattern = re.escape(expected.strip()).replace("…", ".*")
        printed = run.stdout.replace("\r", "").strip()
        assert re.fullmatch(pattern, printed, re.DOTALL), f"{command}\n{printed}\n{run.stderr}"


@pytest.mark.parametrize("metric", sorted(set(re.findall(r"`(penstock_\w+)`", PAGE))))
def test_the_metrics_are_there(metric: str) -> None:
    query = {"name": "q", "state": "RUNNING", "restarts": 0, "status": STATUS}
    printed = DoorMetrics().print([query]).decode()
    assert re.search(rf"^{metric}[ {{]", printed, re.MULTILINE)
