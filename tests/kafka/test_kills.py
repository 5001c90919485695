"""Queries from topic to topic that are killed again and again: readers of committed records see each row, and once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from examples.kafka.broker import Broker
from tests.e2e.shell import ENVIRONMENT, LOCAL, PENSTOCK
from tests.e2e.test_kill import newest
from tests.kafka.scripts import place, values

pytestmark = [pytest.mark.spark, pytest.mark.campaign, pytest.mark.usefixtures("jars")]

KILLS = int(os.environ.get("PENSTOCK_KILLS", "10"))
ROWS = 100
"""Sent to each partition before a kill."""
LIMIT = 9
"""Messages of a micro-batch."""
PATIENCE = 240  # seconds until a micro-batch has to begin


def script(broker: Broker, source: str, target: str, delivery: str, limit: int) -> str:
    return f"""CREATE STREAM s (id BIGINT) WITH ({place(broker, source, max_offsets_per_batch=str(limit))});
      CREATE STREAM t WITH ({place(broker, target, delivery=f"'{delivery}'")}) AS SELECT STREAM id FROM s;"""


@pytest.mark.parametrize("delivery", ["exactly_once", "at_least_once"])
def test_kills_lose_nothing(broker: Broker, tmp_path: Path, delivery: str) -> None:
    """With `at_least_once`, only rows of micro-batches that ran again come again; how many is printed."""
    source, target = broker.topic(partitions=2), broker.topic(partitions=3)
    draw = random.Random(11)
    (tmp_path / "script.sql").write_text(script(broker, source, target, delivery, LIMIT))
    command = [*PENSTOCK, "run", "--once", *LOCAL, "--checkpoint", "state", "script.sql"]
    offsets = tmp_path / "state" / "t" / "offsets"
    sent = killed = 0
    for _ in range(KILLS):
        for partition in (0, 1):
            broker.send(source, values(*({"id": sent + n} for n in range(ROWS)), partition=partition))
            sent += ROWS
        begun = newest(offsets) if offsets.exists() else -1
        with subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, start_new_session=True) as process:
            deadline = time.monotonic() + PATIENCE
            awaited = begun + draw.randint(2, 5)
            while process.poll() is None and (not offsets.exists() or newest(offsets) < awaited):
                assert time.monotonic() < deadline
                time.sleep(0.02)
            time.sleep(draw.random())
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                killed += 1
    assert killed > KILLS // 2, "most runs ended before they were killed"
    (tmp_path / "script.sql").write_text(script(broker, source, target, delivery, 100 * LIMIT))
    ended = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    counts = Counter(json.loads(each.value())["id"] for each in broker.read(target))
    again = counts.total() - len(counts)
    print(f"{delivery}: {killed} kills, {sent} rows, {again} came again")
    assert set(counts) == set(range(sent))
    assert again <= (0 if delivery == "exactly_once" else killed * LIMIT)
