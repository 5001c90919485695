"""The demo of Kafka: its script is sound, and it runs to its end, leaving no process behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.shell import ENVIRONMENT, penstock_here
from tests.house.files import ROOT

DEMO = ("-m", "examples.kafka.demo", "--months", "2")


def test_its_script_is_sound() -> None:
    ended = penstock_here(ROOT, "check", "examples/kafka/flights.sql")
    assert (ended.exit_code, ended.output) == (0, "ok: examples/kafka/flights.sql: 10 statements, 4 queries\n")


@pytest.mark.spark
@pytest.mark.campaign
@pytest.mark.usefixtures("broker", "jars")  # skips where Maven cannot fetch what it needs
def test_it_writes_what_the_batch_answer_is(tmp_path: Path) -> None:
    environment = {**ENVIRONMENT, "TMPDIR": str(tmp_path)}
    command = [sys.executable, *DEMO]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=900)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for name in ("departures_per_hour", "departures_with_weather", "carriers", "manufacturers"):
        assert any(line.startswith(f"{name}: ") and "all equal" in line for line in ended.stdout.splitlines()), name
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) not in running
