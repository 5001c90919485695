"""State that somebody repartitions by hand: what an unfinished call leaves is told, with the way back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.runtime import RunError, RuntimeSession
from penstock.runtime.failure.failures import SPARK_ERRORS

pytestmark = pytest.mark.spark

SCRIPT = """SET state_store = 'memory'; SET state_partitions = 2;
CREATE STREAM s (id BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 1 MINUTE)
  WITH (connector = 'files', path = '{folder}/in', format = 'json');
CREATE STREAM t WITH (connector = 'files', path = '{folder}/out', format = 'json') AS
  SELECT STREAM id, COUNT(*) AS n FROM s GROUP BY id, TUMBLE(time, 1 HOUR);"""


def test_an_unfinished_repartition_can_be_taken_back(spark: SparkSession, tmp_path: Path) -> None:
    place = tmp_path / "state" / "t"
    (tmp_path / "in").mkdir()

    def run(number: int, *, drain: bool = False) -> None:
        row = {"id": 1, "time": f"2025-01-01T00:{number:02}:00Z"}
        (tmp_path / "in" / f"{number}.json").write_text(json.dumps(row) + "\n", encoding="utf-8")
        with RuntimeSession(spark.newSession(), str(tmp_path / "state")) as session:
            session.run_once(penstock.compile(SCRIPT.format(folder=tmp_path)).program, drain=drain)

    run(1)
    manager: Any = spark._streamingCheckpointManager  # type: ignore[attr-defined, unused-ignore]
    with pytest.raises(SPARK_ERRORS):  # it moves what RocksDB keeps alone
        manager.repartition(str(place), 4)
    with pytest.raises(RunError) as refused:
        run(2)
    (found,) = refused.value.diagnostics
    newest = max((place / "offsets").glob("[0-9]*"), key=lambda path: int(path.name))
    assert (found.code, found.message) == ("R058", f"state of t was being repartitioned: {newest}")
    names = [Path(word.rstrip(":")) for word in (found.hint or "").split()[1:3]]
    assert names == [newest, newest.with_name(f".{newest.name}.crc")]
    for each in names:
        each.unlink()
    run(3, drain=True)
    rows = [json.loads(line) for file in (tmp_path / "out").glob("*.json") for line in file.read_text().splitlines()]
    assert rows == [{"id": 1, "n": 3}]
