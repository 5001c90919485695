"""A running query with an input that falls silent: the others go on, and each row is accounted for."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.runtime import QueryHandle, RuntimeSession
from tests.runtime.programs import written

pytestmark = pytest.mark.spark

UNION = """
CREATE STREAM orders (id INT, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = '{folder}/orders', format = 'json');
CREATE STREAM refunds (id INT, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL '2' MINUTE {idle})
WITH (connector = 'files', path = '{folder}/refunds', format = 'json');
CREATE STREAM counts WITH (connector = 'files', path = '{folder}/counts', format = 'json') AS
SELECT STREAM window_start, COUNT(*) AS n FROM (SELECT STREAM * FROM orders UNION ALL SELECT STREAM * FROM refunds) x
GROUP BY TUMBLE(time, 10 MINUTES);
"""
SECONDS = 120


class Running:
    """Two folders of rows, numbered by their minutes, and a folder of results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.put: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        for name in ("orders", "refunds"):
            (folder / name).mkdir()

    def say(self, name: str, *minutes: int) -> None:
        """A file with rows of these minutes of a day."""
        self.put[name] += len(minutes)
        lines = [json.dumps({"id": m, "time": f"2024-01-01T{m // 60:02}:{m % 60:02}:00Z"}) + "\n" for m in minutes]
        draft = self.folder / "draft"
        draft.write_text("".join(lines))
        draft.rename(self.folder / name / f"{time.time_ns()}.json")

    def rows(self, name: str) -> list[dict[str, object]]:
        """What the folder of a sink holds."""
        return written(self.folder / name) if (self.folder / name / "_spark_metadata").is_dir() else []

    def windows(self) -> dict[int, int]:
        """How many rows the windows have that have come out, by the minutes of their starts."""
        times = ((datetime.fromisoformat(str(each["window_start"])), each["n"]) for each in self.rows("counts"))
        found = [(time.hour * 60 + time.minute, int(str(n))) for time, n in times]
        assert len(dict(found)) == len(found)
        return dict(sorted(found))


def wait(handle: QueryHandle, what: Callable[[], bool]) -> None:
    """Until something is so, while the query runs."""
    deadline = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < deadline, handle.status()
        assert not handle.await_done(0.1)


def test_a_silent_input_holds_nothing_back(spark: SparkSession, tmp_path: Path) -> None:
    running = Running(tmp_path)
    before, program = (
        penstock.compile(UNION.format(folder=tmp_path, idle=idle)).program for idle in ("", "IDLE AFTER 2 SECONDS")
    )
    end = tmp_path / "checkpoint" / "counts" / "end"
    running.say("orders", 1, 2, 20)
    running.say("refunds", 3)
    with RuntimeSession(spark, str(tmp_path / "checkpoint")) as session:
        (report,) = session.run_once(before, drain=False)
        assert [each.used for each in report.inputs] == [3, 1]
        running.say("orders", 25)
        (handle,) = session.start(program)
        wait(handle, lambda: running.windows() == {0: 3})
        running.say("refunds", 4, 26)  # one behind 25 - 1, which is where the refunds are taken to be
        wait(handle, lambda: handle.status().late == 1)
        running.say("orders", 45)  # the refunds are at 26 - 2 until they have been silent again
        wait(handle, lambda: running.windows() == {0: 3, 20: 3})
        handle.stop()
        running.counts.update(handle._run.account.counts)
        assert len([each for each in end.iterdir() if each.suffix == ".json"]) < 2, "read heartbeats are deleted"
        running.say("refunds", 43, 47)
        running.say("orders", 65)
        (handle,) = session.start(program)
        wait(handle, lambda: running.windows() == {0: 3, 20: 3, 40: 2})
        running.counts.update(handle._run.account.counts)
    assert (running.counts["late:orders"], running.counts["late:refunds"]) == (0, 2)
    for each in report.inputs:
        running.counts[f"in:{each.name}"] += each.read
        running.counts[f"used:{each.name}"] += each.used
    for name, put in running.put.items():
        fates = {fate: running.counts[f"{fate}:{name}"] for fate in ("rejected", "late", "filtered", "used")}
        assert running.counts[f"in:{name}"] == put == sum(fates.values()), (name, fates)


STAGES = """
CREATE STREAM orders (id INT, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = '{folder}/orders', format = 'json');
CREATE STREAM refunds (id INT, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL '2' MINUTE)
WITH (connector = 'files', path = '{folder}/refunds', format = 'json');
CREATE STREAM counts WITH (connector = 'files', path = '{folder}/counts', format = 'json') AS
SELECT STREAM o.window_start AS window_start, o.n AS n, r.n AS refunds
FROM (SELECT STREAM id >= 0 AS k, window_start, COUNT(*) AS n FROM orders GROUP BY id >= 0, TUMBLE(time, 10 MINUTES)) o
LEFT JOIN (SELECT STREAM id >= 0 AS k, window_start, COUNT(*) AS n FROM refunds WHERE id % 10 = 3
  GROUP BY id >= 0, TUMBLE(time, 10 MINUTES)) r
ON o.k = r.k AND r.window_start = o.window_start;
"""


def test_a_stage_without_rows_passes_its_watermark_on(spark: SparkSession, tmp_path: Path) -> None:
    running = Running(tmp_path)
    program = penstock.compile(STAGES.format(folder=tmp_path)).program
    running.say("orders", 1, 2, 11, 25)
    running.say("refunds", 4, 27)  # none that counts
    with RuntimeSession(spark, str(tmp_path / "checkpoint")) as session:
        handles = session.start(program)
        wait(handles[-1], lambda: running.windows() == {0: 2, 10: 1})
        running.say("refunds", 33, 57)
        running.say("orders", 33, 34, 55)
        wait(handles[-1], lambda: running.windows() == {0: 2, 10: 1, 20: 1, 30: 2})
        assert [handle.status().late for handle in handles] == [0, 0, 0]
    assert {str(row["window_start"])[14:16]: row["refunds"] for row in running.rows("counts")} == {
        "00": None,
        "10": None,
        "20": None,
        "30": 1,
    }
