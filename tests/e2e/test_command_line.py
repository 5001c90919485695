"""`penstock run` and an ejected program, as started from a shell."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

SCRIPT = """CREATE STREAM orders (id BIGINT KEY, price DOUBLE, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '10' SECOND)
WITH (connector = 'files', path = 'orders', format = 'json');
CREATE STREAM big (id BIGINT, price DOUBLE) WITH (connector = 'files', path = 'big', format = 'json');
INSERT INTO big SELECT STREAM id, price FROM orders WHERE price > 100;
"""
ORDERS = [
    {"id": 1, "price": 50.0, "time": "2024-01-01T00:00:00Z"},
    {"id": 2, "price": 150.0, "time": "2024-01-01T00:00:01Z"},
    {"id": 3, "price": 250.0, "time": "2024-01-01T00:00:02Z"},
]
BIG = [{"id": 2, "price": 150.0}, {"id": 3, "price": 250.0}]
PENSTOCK = (sys.executable, "-c", "from penstock.cli import main; main()")
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


def call(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)


def rows(folder: Path) -> list[dict[str, object]]:
    files = (folder / "big").glob("*.json")
    found = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return sorted(found, key=lambda row: int(row["id"]))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "script.sql").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "orders").mkdir()
    lines = [*map(json.dumps, ORDERS), '{"id": "no number"}']
    (tmp_path / "orders" / "1.json").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_once_writes_the_rows_and_accounts_for_every_one(folder: Path) -> None:
    ended = call(folder, *PENSTOCK, "run", "--once", "--master", "local[2]", "script.sql")
    assert ended.returncode == 0, ended.stderr
    assert rows(folder) == BIG
    account = next(line for line in ended.stdout.splitlines() if "orders" in line)
    numbers = [int(cell) for cell in account.replace("│", " ").split() if cell.isdigit()]
    assert numbers == [4, 1, 0, 1, 2, 2]
    assert "rejected rows of orders: " in ended.stdout
    assert "big: 4 rows in, 2 out, batch 1" in ended.stderr


def test_a_missing_folder_is_a_coded_error_and_exit_code_3(folder: Path) -> None:
    (folder / "orders").rename(folder / "elsewhere")
    ended = call(folder, *PENSTOCK, "run", "--once", "--master", "local[2]", "script.sql")
    assert ended.returncode == 3
    assert ended.stderr.startswith("error[R003]")
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_until_told_to_stop(folder: Path, number: signal.Signals) -> None:
    command = [*PENSTOCK, "run", "--master", "local[2]", "--checkpoint", "state", "script.sql"]
    with subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        assert process.stderr.readline() == "running: big; Ctrl-C ends\n"
        process.send_signal(number)
        assert process.stderr.read() == "stopped\n"
    assert process.returncode == 0


def test_an_ejected_program_gives_the_same_rows(folder: Path) -> None:
    assert call(folder, *PENSTOCK, "compile", "script.sql", "-o", "job.py").returncode == 0
    ended = subprocess.run(
        [sys.executable, "job.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert ended.returncode == 0, ended.stderr
    assert rows(folder) == BIG
