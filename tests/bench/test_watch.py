"""What a session of processes uses, moment by moment, and the micro-batches of Spark's event log."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.watch import Batch, Batches, Moment, read_batches, warm_batches

# 100 MB in a session of their own, as the JVM of Penstock is, and half a second of a child that has ended.
GREEDY = """
import subprocess, sys
subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.5: pass"])
held = 'import time; held = b"x" * 100_000_000; time.sleep(0.5)'
subprocess.run([sys.executable, "-c", held], start_new_session=True)
"""
WATCHED = f"""
import sys
from pathlib import Path
from bench.measure import measure
moments = measure([sys.executable, "-c", {GREEDY!r}], Path("."), {{}}, Path(sys.argv[1]), watched=True).moments
assert 1e8 < max(each.memory for each in moments) < 3e8, moments  # a child that is forked counts twice for a moment
assert 0.5 <= moments[-1].cpu < 5, moments
assert [each.time for each in moments] == sorted(each.time for each in moments)
assert not measure([sys.executable, "-c", ""], Path("."), {{}}, Path(sys.argv[1])).moments
"""


def test_children_that_have_ended_count(tmp_path: Path) -> None:
    # In a process of its own, because no other child may be running.
    subprocess.run([sys.executable, "-c", WATCHED, str(tmp_path / "log")], check=True)


def progress(second: int, taken: int, rows: int = 1) -> str:
    """A line of Spark's event log: the micro-batch began at that second and took that many milliseconds."""
    told = {
        "id": "q",
        "timestamp": f"2024-01-01T00:00:{second:02}.000Z",
        "sources": [{"numInputRows": 0}, {"numInputRows": rows}],
        "batchDuration": taken,
        "stateOperators": [
            {"numRowsTotal": 3, "memoryUsedBytes": 1_000 * second},
            {"numRowsTotal": 4, "memoryUsedBytes": 1},
        ],
    }
    return json.dumps(
        {"Event": "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent", "progress": told}
    )


def test_only_warm_batches_count(tmp_path: Path) -> None:
    first = 1_704_067_200.0
    moments = [Moment(first, 0.0, 10), Moment(first + 30, 30.0, 30), Moment(first + 60, 120.0, 20)]
    before = [progress(1, 9_000), '{"Event": "SparkListenerJobEnd"}', progress(10, 5_000), progress(15, 5_000)]
    (tmp_path / "events").write_text("\n".join([*before, progress(20, 1_000)]))
    assert warm_batches(tmp_path, moments) == Batches(wall=1.0, cpu=1.0, memory=30, state=20_001)
    warm = [progress(20, 1_000), progress(40, 4_000), progress(44, 2_000), progress(46, 9_000, rows=0)]
    (tmp_path / "events").write_text("\n".join([*before, *warm]))
    found = warm_batches(tmp_path, moments)
    # 46 seconds after the first moment 78 CPU seconds had been used.
    assert found.cpu == pytest.approx((78 - 20) / 3)
    assert found == Batches(wall=2.0, cpu=found.cpu, memory=30, state=44_001)
    (tmp_path / "events").write_text("\n".join(before))
    with pytest.raises(ValueError, match="too few"):
        warm_batches(tmp_path, moments)


def test_micro_batches_have_their_query_and_its_state(tmp_path: Path) -> None:
    (tmp_path / "events").write_text("\n".join([progress(2, 500), progress(1, 500), progress(3, 500, rows=0)]))
    first, second = read_batches(tmp_path)
    assert first == Batch("q", 1_704_067_201.0, 0.5, rows=7, state=1_001)
    assert second.end == 1_704_067_202.5
