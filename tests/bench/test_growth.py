"""What a run's event log and the looks at its checkpoint come to, quarter by quarter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.growth import MIB, Batch, Folder, Growth, read_batches, tabulate
from bench.watch import Moment
from bench.workload import MAIN


def progress(second: int, rows: int, query: str = "q") -> str:
    told = {
        "id": query,
        "timestamp": f"2024-01-01T00:00:{second:02}.000Z",
        "sources": [{"numInputRows": rows}],
        "batchDuration": 500,
        "stateOperators": [{"numRowsTotal": 3, "memoryUsedBytes": 100}, {"numRowsTotal": 4, "memoryUsedBytes": 1}],
    }
    return json.dumps({"Event": "…StreamingQueryListener$QueryProgressEvent", "progress": told})


def test_micro_batches_without_rows_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "events").write_text("\n".join([progress(1, 5), '{"Event": "SparkListenerJobEnd"}', progress(2, 0)]))
    assert list(read_batches(tmp_path)) == [Batch(1_704_067_201.5, 0.5, 7, 101)]
    (tmp_path / "events").write_text("\n".join([progress(1, 5), progress(2, 5, "another")]))
    with pytest.raises(ValueError, match="several"):
        list(read_batches(tmp_path))


def test_a_line_has_the_means_of_a_quarter() -> None:
    query = next(each for each in MAIN if each.name == "tumble")
    batches = [Batch(float(second), 0.25, 10 * second, second * MIB) for second in range(8)]
    folders = [Folder(float(second), second, second * MIB) for second in range(8)]
    moments = [Moment(float(second), 0.0, second << 30) for second in range(8)]
    head, _, *lines = tabulate([Growth(query, batches, folders, moments)])
    assert head.startswith("| query | micro-batches |")
    assert len(lines) == 4
    assert lines[1] == "| tumbling aggregates, 1 min | up to 4 | 25 | 2.5 | 2.5 | 2 | 2.5 | 0.25 |"
