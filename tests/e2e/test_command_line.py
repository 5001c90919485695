"""`penstock run`, as started from a shell."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.shell import ENVIRONMENT, LOCAL, PENSTOCK, accounts, penstock, penstock_here

pytestmark = pytest.mark.spark

SCRIPT = """CREATE STREAM orders (id BIGINT KEY, price DOUBLE, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '10' SECOND)
WITH (connector = 'files', path = 'orders', format = 'json');
CREATE STREAM big (id BIGINT, price DOUBLE) WITH (connector = 'files', path = 'big', format = 'json');
INSERT INTO big SELECT STREAM id, price FROM orders WHERE price > 100;
"""
TOTALS = """CREATE TABLE totals WITH (connector = 'files', path = 'totals', format = 'json', operation = 'op') AS
SELECT id, SUM(price) AS total, MAX(time) AS newest FROM orders GROUP BY id;
"""
ORDERS = [
    {"id": 1, "price": 50.0, "time": "2024-01-01T00:00:00Z"},
    {"id": 2, "price": 150.0, "time": "2024-01-01T00:00:01Z"},
    {"id": 3, "price": 250.0, "time": "2024-01-01T00:00:02Z"},
]
MICRO_BATCHES = 15
BIG = [{"id": 2, "price": 150.0}, {"id": 3, "price": 250.0}]


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
    with (folder / "script.sql").open("a", encoding="utf-8") as script:
        script.write("CREATE TABLE totals AS SELECT id, COUNT(*) AS n, MAX(time) AS newest FROM orders GROUP BY id;")
    ended = penstock(folder, "run", "--once", *LOCAL, "script.sql")
    assert ended.returncode == 0, ended.stderr
    assert rows(folder) == BIG
    assert accounts(ended.stdout) == {("big", "orders"): [4, 1, 0, 1, 2, 2], ("totals", "orders"): [4, 1, 0, 0, 3, 3]}
    assert f"big: rejected rows of orders are in {folder}/big_rejected/orders" in ended.stdout
    assert "big: 4 rows in, 2 out, 0 late, 1 rejected, batch 1" in ended.stderr

    shown = [line.split() for line in ended.stdout.splitlines()]
    assert ["totals:", "3", "rows"] in shown
    for order in ORDERS:
        assert [str(order["id"]), "1", *str(order["time"]).strip("Z").split("T")] in shown


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_before_the_end(folder: Path, signal_: signal.Signals) -> None:
    stream = SCRIPT.partition("CREATE STREAM big")[0].replace("orders", "more")
    with (folder / "script.sql").open("a", encoding="utf-8") as script:
        script.write(stream.replace("'json'", "'json', files_per_batch = 1") + TOTALS.replace("orders", "more"))
    (folder / "more").mkdir()
    for number in range(MICRO_BATCHES):  # of the table, which go on when the stream has its rows
        (folder / "more" / f"{number}.json").write_text(json.dumps(ORDERS[0] | {"id": number}), encoding="utf-8")
    command = [*PENSTOCK, "run", "--once", *LOCAL, "--checkpoint", "state", "script.sql"]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout
        assert process.stderr
        told = iter(process.stderr.readline, "")
        assert "big: 4 rows in, 2 out, 0 late, 1 rejected, batch 1\n" in told
        os.killpg(process.pid, signal_)
        *progress, last = told
        counted = accounts(process.stdout.read())
    assert counted["big", "orders"] == [4, 1, 0, 1, 2, 2]
    assert (process.returncode, last) == (130, "stopped before the end; --checkpoint goes on from here\n")
    assert all(line.startswith("totals: ") for line in progress)
    ended = penstock_here(folder, "run", "--once", "--checkpoint", "state", "script.sql")
    assert ended.exit_code == 0, ended.output
    assert rows(folder) == BIG
    read = penstock_here(folder, "query", "--format", "json", "script.sql", "SELECT COUNT(*) AS n FROM totals")
    assert json.loads(read.stdout) == {"n": MICRO_BATCHES}


@pytest.mark.usefixtures("spark")
def test_another_process_reads_a_table_whose_query_runs_and_after_its_end(folder: Path) -> None:
    (folder / "script.sql").write_text(SCRIPT.partition("CREATE STREAM big")[0] + TOTALS, encoding="utf-8")
    command = [*PENSTOCK, "run", *LOCAL, "script.sql"]
    with subprocess.Popen(
        command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stderr
        told = iter(process.stderr.readline, "")
        assert (
            next(line for line in told if "batch 1" in line)
            == "totals: 4 rows in, 3 out, 0 late, 1 rejected, batch 1\n"
        )
        select = "SELECT id, total, newest FROM totals WHERE total > 100 ORDER BY id DESC"
        read = penstock_here(folder, "query", "--format", "json", "script.sql", select)
        assert read.exit_code == 0, read.output
        assert [json.loads(line) for line in read.stdout.splitlines()] == [
            {"id": 3, "total": 250.0, "newest": "2024-01-01T00:00:02.000000Z"},
            {"id": 2, "total": 150.0, "newest": "2024-01-01T00:00:01.000000Z"},
        ]
        process.send_signal(signal.SIGTERM)
        assert process.stderr.read().endswith("stopped\n")
        assert accounts(process.stdout.read()) == {("totals", "orders"): [4, 1, 0, 0, 3, 3]}
    assert process.returncode == 0
    read = penstock_here(folder, "query", "script.sql", "SELECT COUNT(*) AS n FROM totals")
    assert [line.split() for line in read.stdout.splitlines() if line.strip()][-1] == ["3"]
    (folder / "totals").rename(folder / "elsewhere")
    read = penstock_here(folder, "query", "script.sql", select)
    assert (read.exit_code, read.stdout) == (3, "")
    assert read.stderr.startswith("error[R003]")


@pytest.mark.parametrize("end", ["all processes are told to stop", "the JVM is killed"])
def test_until_its_end(folder: Path, end: str) -> None:
    command = [sys.executable, "-m", "penstock", "run", *LOCAL, "--conf", "spark.ui.retainedJobs=10"]
    command += ["--checkpoint", "state", "script.sql"]
    with subprocess.Popen(
        command, cwd=folder, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr
        assert [process.stderr.readline() for _ in range(2)] == ["starting Spark …\n", "running: big; Ctrl-C ends\n"]
        jvm = json.loads((folder / "state" / "big" / "lock").read_text(encoding="utf-8"))["jvm"][0]
        if end == "the JVM is killed":
            os.kill(jvm, signal.SIGKILL)
        else:  # as systemd does
            os.kill(jvm, signal.SIGTERM)
            os.killpg(process.pid, signal.SIGTERM)
        told = process.stderr.read()
    if end == "the JVM is killed":
        assert process.returncode == 3
        assert "error[R040]: the JVM of big has ended" in told
        assert "Traceback" not in told
        assert "R099" not in told
    else:
        assert process.returncode == 0
        assert told.endswith("stopped\n")


def test_settings_are_checked_before_spark_starts(folder: Path) -> None:
    secret = ("--conf", "spark.hadoop.fs.s3a.secret.key=geheim")
    refused = penstock_here(folder, "run", "--once", *secret, "--conf", "spark.sql.ansi.enabled=geheim", "script.sql")
    assert (refused.exit_code, "R048" in refused.output, "geheim" in refused.output) == (3, True, False)
    assert penstock_here(folder, "query", "--conf", "geheim", "script.sql", "SELECT 1").exit_code == 2
