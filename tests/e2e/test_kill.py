"""`penstock run --once --checkpoint` killed in the middle, again and again: the rows of an undisturbed run come out."""

from __future__ import annotations

import os
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession

from tests.e2e.shell import ENVIRONMENT, LOCAL, PENSTOCK, penstock_here, write

pytestmark = [pytest.mark.spark, pytest.mark.draws]

DECLARED = """
SET state_partitions = 2;
CREATE STREAM orders (id BIGINT KEY, product STRING, price DOUBLE, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '5' MINUTE)
WITH (connector = 'files', path = '../orders', format = 'json', files_per_batch = 1);
CREATE STREAM payments (order_id BIGINT KEY, amount DOUBLE, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '5' MINUTE)
WITH (connector = 'files', path = '../payments', format = 'json', files_per_batch = 1);

CREATE STREAM quarters (id BIGINT KEY, product STRING, price DOUBLE, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '5' MINUTE)
WITH (connector = 'files', path = '../orders', format = 'json', files_per_batch = 3);
"""
HOURLY = """
CREATE STREAM hourly (product STRING, window_start TIMESTAMP, orders BIGINT, total DOUBLE)
WITH (connector = 'files', path = 'hourly', format = 'json');
INSERT INTO hourly
SELECT STREAM product, window_start, COUNT(*) AS orders, SUM(price) AS total
FROM quarters GROUP BY product, TUMBLE(time, INTERVAL '20' MINUTE);
"""
PAID = """
CREATE STREAM paid (id BIGINT, product STRING, time TIMESTAMP, amount DOUBLE)
WITH (connector = 'files', path = 'paid', format = 'json');
INSERT INTO paid
SELECT STREAM o.id AS id, o.product AS product, o.time AS time, p.amount AS amount
FROM orders o LEFT JOIN payments p ON o.id = p.order_id AND p.time BETWEEN o.time AND o.time + INTERVAL '15' MINUTE;
"""
FILES = 12
LATE = (5, 8, 11)  # files with a row that belongs into the first
SINKS = ("hourly", "paid")
# The query, and whether it dies when its next batch is planned and being written, or when that batch is done.
KILLS = (
    *(("hourly", "offsets"), ("paid", "offsets"), ("paid", "commits"), ("hourly", "commits"), ("hourly", "offsets")),
    *(("paid", log) for log in ("offsets", "offsets", "commits", "offsets", "offsets")),
)[: int(os.environ.get("PENSTOCK_KILLS", "2"))]
PATIENCE = 240  # seconds until a batch has to appear


def moment(minute: int) -> str:
    return f"2024-01-01T{minute // 60:02d}:{minute % 60:02d}:00Z"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A file of orders and one of payments for every ten minutes: some orders are late, some are not paid."""
    files: dict[str, list[object]] = {}
    for number in range(FILES):
        minutes = [10 * number + minute for minute in range(0, 10, 2)]
        files[f"orders/{number:02d}.json"] = [
            {"id": minute, "product": "abc"[minute % 3], "price": minute / 4, "time": moment(minute)}
            for minute in minutes
        ]
        files[f"payments/{number:02d}.json"] = [
            {"order_id": minute, "amount": minute / 8, "time": moment(minute + 3)} for minute in minutes if minute % 3
        ]
        if number in LATE:
            late = {"id": 1000 + number, "product": "late", "price": 1.0, "time": moment(0)}
            files[f"orders/{number:02d}.json"].append(late)
    write(tmp_path, files)
    for run in ("killed", "undisturbed"):
        write(tmp_path / run, {"declared.sql": DECLARED, "hourly.sql": HOURLY, "paid.sql": PAID})
    return tmp_path


def newest(log: Path) -> int:
    """The newest batch in a folder of a checkpoint, -1 if there is none."""
    return max((int(file.name.partition(".")[0]) for file in log.glob("[0-9]*")), default=-1)


def kill_at(folder: Path, query: str, log: Path) -> None:
    """Starts a run of one query, and kills its Python process as soon as the file `log` is there."""
    command = [*PENSTOCK, "run", "--once", *LOCAL, "--checkpoint", "state", "declared.sql", f"{query}.sql"]
    with subprocess.Popen(
        command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + PATIENCE
        while not log.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        process.kill()
        assert process.stderr
        told = process.stderr.read()
    assert process.returncode == -9, told
    assert log.exists(), told


def test_kills_neither_lose_nor_repeat_a_row(root: Path, spark: SparkSession) -> None:
    files = ("declared.sql", "hourly.sql", "paid.sql")
    last = ("run", "--once", "--checkpoint", "state", "--drain", *files)
    undisturbed = penstock_here(root / "undisturbed", *last)
    assert undisturbed.exit_code == 0, undisturbed.output

    folder = root / "killed"
    unfinished = 0
    for query, log in KILLS:
        checkpoint = folder / "state" / query
        kill_at(folder, query, checkpoint / log / str(newest(checkpoint / "offsets") + 1))
        unfinished += newest(checkpoint / "offsets") > newest(checkpoint / "commits")
    assert unfinished > 0
    ended = penstock_here(folder, *last)
    assert ended.exit_code == 0, ended.output

    def rows(run: str, sink: str) -> Counter[Row]:
        return Counter(spark.read.json(str(root / run / sink)).collect())

    for sink in SINKS:
        assert rows("killed", sink) == rows("undisturbed", sink)
    assert max(rows("killed", "paid").values()) == 1
    on_time = FILES * 5
    assert rows("killed", "paid").total() == on_time
    assert sum(row.orders for row in rows("killed", "hourly")) == on_time
