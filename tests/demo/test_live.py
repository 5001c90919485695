"""`make serve`: the replayed flights are rows that the served script reads."""

from __future__ import annotations

import csv
import runpy
import threading
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.runtime import RuntimeSession

FLIGHTS = Path(__file__).parents[2] / "examples" / "flights"


class StopAfter(threading.Event):
    """An event that is set when it has been waited for so many times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def wait(self, timeout: float | None = None) -> bool:
        """Whether it is set, at once."""
        self.times -= 1
        return self.times == 0


@pytest.mark.spark
def test_replayed_flights_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> None:
    monkeypatch.syspath_prepend(FLIGHTS)
    monkeypatch.chdir(tmp_path)
    live = runpy.run_path(str(FLIGHTS / "live.py"))
    live["prepare"]()
    folder = tmp_path / live["LIVE"]
    folder.mkdir(parents=True)
    live["replay"](2, StopAfter(5))
    rows = [row for file in folder.glob("*.csv") for row in csv.reader(file.read_text(encoding="utf-8").splitlines())]
    assert len(list(folder.glob("*.csv"))) == 5
    program = penstock.compile((FLIGHTS / "live.sql").read_text(encoding="utf-8")).program
    with RuntimeSession(spark) as session:
        session.run_once(program, drain=True)
        hourly = session.rows("hourly")
    counts: Counter[str] = Counter()
    for row in hourly:
        counts[row["origin"]] += row["flights"]
    assert counts == Counter(row[1] for row in rows)
