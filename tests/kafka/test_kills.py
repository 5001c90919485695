"""Queries from topic to topic that are killed again and again: readers of committed records see each row once."""

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

from tests.e2e.shell import ENVIRONMENT, LOCAL, PENSTOCK
from tests.e2e.test_kill import newest
from examples.kafka.broker import Broker
from tests.kafka.scripts import place, values

pytestmark = [pytest.mark.spark, pytest.mark.campaign, pytest.mark.usefixtures("jars")]

KILLS = int(os.environ.get("PENSTOCK_KILLS", "10"))
ROWS = 200
PATIENCE = 240  # seconds until a micro-batch has to begin


def test_kills_write_nothing_twice_and_lose_nothing(broker: Broker, tmp_path: Path) -> None:
    source, target = broker.topic(partitions=2), broker.topic(partitions=3)
    draw = random.Random(11)
    script = f"""CREATE STREAM s (id BIGINT) WITH ({place(broker, source, max_offsets_per_batch="9")});
      CREATE STREAM t WITH ({place(broker, target)}) AS SELECT STREAM id FROM s;"""
    (tmp_path / "script.sql").write_text(script)
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
    ended = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    counts = Counter(json.loads(each.value())["id"] for each in broker.read(target))
    assert counts == Counter(range(sent))
