"""Disks of a few megabytes that are full in the middle: a coded error, and the right rows once there is room again."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.shell import ENVIRONMENT, LOCAL, PENSTOCK
from tests.runtime.programs import written

pytestmark = [
    pytest.mark.spark,
    pytest.mark.campaign,
]

SCRIPT = """
SET state_partitions = 2;
SET state_store = '{store}';
CREATE STREAM orders (id BIGINT KEY, v BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL '0' SECOND)
WITH (connector = 'files', path = 'orders', format = 'json', files_per_batch = 1);
CREATE STREAM sums WITH (connector = 'files', path = 'out/sums', format = 'json') AS
SELECT STREAM id, window_start, SUM(v) AS v FROM orders GROUP BY id, TUMBLE(time, 1 HOUR);
"""
KEYS = 200
_PATIENCE = 900  # seconds that a run may take where others work on the machine
_LEFT = (0, 8192, 65536)  # bytes that are left, so that the disk is full at different places


@pytest.fixture(params=["state", "out", "local"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A small disk in the place of one of the folders that a query writes to."""
    place = tmp_path / str(request.param)
    for name in ("state", "out", "local", "orders"):
        (tmp_path / name).mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no command to mount a disk")
    if done.returncode != 0:
        pytest.skip(f"a disk cannot be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def put(root: Path, hour: int) -> None:
    rows = [{"id": key, "v": hour, "time": f"2024-01-01T{hour:02d}:{key % 60:02d}:00Z"} for key in range(KEYS)]
    (root / "orders" / f"{hour:02d}.json").write_text("".join(json.dumps(row) + "\n" for row in rows))


def run(root: Path) -> subprocess.CompletedProcess[str]:
    command = [*PENSTOCK, "run", "--once", *LOCAL, "--checkpoint", "state", "script.sql"]
    environment = {**ENVIRONMENT, "SPARK_LOCAL_DIRS": str(root / "local")}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=_PATIENCE)


def fill(disk: Path, left: int) -> Path:
    """A file that leaves so many bytes of the disk."""
    filler, free = disk / ".filler", os.statvfs(disk)
    filler.write_bytes(b"x" * max(0, free.f_bavail * free.f_frsize - left))
    return filler


@pytest.mark.parametrize("store", ["memory", "rocksdb"])
def test_a_full_disk_loses_nothing(disk: Path, store: str) -> None:
    root = disk.parent
    (root / "script.sql").write_text(SCRIPT.format(store=store))
    put(root, 0)
    assert run(root).returncode == 0
    refused = 0
    for hour, left in enumerate(_LEFT, 1):
        put(root, hour)
        filler = fill(disk, left)
        failed = run(root)
        filler.unlink()
        if failed.returncode != 0:
            refused += 1
            assert "error[R055]" in failed.stderr, failed.stderr
            assert "Traceback" not in failed.stdout + failed.stderr
    assert refused > 0
    put(root, 23)
    last = run(root)
    assert last.returncode == 0, last.stderr
    found = sorted((row["id"], row["window_start"][11:13], row["v"]) for row in written(root / "out" / "sums"))
    assert found == sorted((key, f"{hour:02d}", hour) for key in range(KEYS) for hour in range(len(_LEFT) + 1))
