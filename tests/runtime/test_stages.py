"""Intermediate streams between the queries of a chain: resumed, and swept of what has been read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.runtime import RuntimeSession
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.checkpoint.sweep import sweep

pytestmark = pytest.mark.spark

SCRIPT = """
CREATE STREAM readings (sensor STRING KEY, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL '0' SECOND)
WITH (connector = 'files', path = '{folder}/readings', format = 'json');
CREATE STREAM busiest WITH (connector = 'files', path = '{folder}/busiest', format = 'json') AS
SELECT STREAM window_start, MAX(n) AS n FROM (
  SELECT STREAM sensor, window_start AS minute, COUNT(*) AS n FROM readings
  GROUP BY sensor, TUMBLE(time, 1 MINUTE)) minutes
GROUP BY TUMBLE(minute, 1 HOUR);
"""


def put(folder: Path, name: str, *minutes: int) -> None:
    rows = [{"sensor": "a", "time": f"2024-01-01T{minute // 60:02}:{minute % 60:02}:00Z"} for minute in minutes]
    (folder / "readings" / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def written(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def test_rejected_rows_of_a_chain_lie_beside_its_sink(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "readings").mkdir()
    put(tmp_path, "1.json", 1, 2)
    (tmp_path / "readings" / "2.json").write_text('{"sensor": 5, "time": "x"}\n')
    with RuntimeSession(spark) as session:  # the checkpoint is a temporary folder
        reports = session.run_once(penstock.compile(SCRIPT.format(folder=tmp_path)).program, drain=True)
    (account,) = reports[0].inputs
    assert (account.name, account.read, account.rejected) == ("readings", 3, 1)
    folder = tmp_path / "busiest_rejected" / "busiest_intermediate1" / "readings"
    assert account.rejected_to is not None
    assert Path(account.rejected_to.removeprefix("file:")) == folder
    (row,) = [json.loads(line) for file in folder.glob("*.json") for line in file.read_text().splitlines()]
    assert row["record"] == '{"sensor": 5, "time": "x"}'


@pytest.mark.parametrize("names", [("0", "1", "2"), ("s", "s__2", "end")])
def test_a_file_stays_until_all_that_read_it_have_read_others(
    spark: SparkSession, tmp_path: Path, names: tuple[str, str, str]
) -> None:
    """Of checkpoints that know their sources by number, and by name: there, those without an offset are left out."""
    rows, reader = tmp_path / "first_intermediate1" / "rows", tmp_path / "first"
    are_named = names[0] != "0"
    for name in "abc":
        written(rows, f"part-{name}", "")
    entry = '{{"path": "file://{}/part-{}", "timestamp": 1, "batchId": {}}}'
    # A stream joined with itself: the second source has not seen `c` yet.
    for source, files in zip(names, ("abc", "ab"), strict=False):
        for number, name in enumerate(files):
            written(reader, f"sources/{source}/{number}", "v1\n" + entry.format(rows, name, number))
    written(reader, f"sources/{names[2]}/0", "v1\n" + entry.format(tmp_path / "first" / "end", "part-c", 0))

    def write_offsets(batch: int, *offsets: int | None) -> None:
        told = [
            (name, "-" if each is None else json.dumps({"logOffset": each}))
            for name, each in zip(names, offsets, strict=True)
        ]
        lines = [f"{name}:{each}" for name, each in told if each != "-"] if are_named else [each for _, each in told]
        head = [f"v{2 if are_named else 1}", '{"batchWatermarkMs":0,"batchTimestampMs":0,"conf":{}}']
        written(reader, f"offsets/{batch}", "\n".join([*head, *lines]))

    def left() -> list[str]:
        sweep(Storage(spark), str(rows), [str(reader)])
        return sorted(each.name for each in rows.iterdir())

    # Micro-batches without rows have numbers, too: those of a source's log are its own.
    written(reader, "commits/6", "v1")
    write_offsets(6, 1, None, None)
    assert left() == ["part-a", "part-b", "part-c"]
    written(reader, "commits/7", "v1")
    write_offsets(7, 1, 1, 0)
    write_offsets(8, 2, 1, 0)
    assert left() == ["part-b", "part-c"]
    sweep(Storage(spark), str(rows), [str(reader), str(tmp_path / "not begun")])
    written(reader, "commits/8", "v1")
    assert left() == ["part-b", "part-c"]


def test_a_chain_goes_on_and_its_intermediate_stream_is_swept(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "readings").mkdir()
    program = penstock.compile(SCRIPT.format(folder=tmp_path)).program
    between = tmp_path / "checkpoint" / "busiest_intermediate1" / "rows"
    with RuntimeSession(spark, str(tmp_path / "checkpoint")) as session:
        put(tmp_path, "1.json", 0, 1, 1, 61)
        session.run_once(program, drain=False)
        first = set(between.glob("part-*"))
        put(tmp_path, "2.json", 62, 62, 62, 130, 131)
        session.run_once(program, drain=False)
        assert first
        assert first.isdisjoint(between.glob("part-*"))
        put(tmp_path, "3.json", 132)
        reports = session.run_once(program, drain=True)
    assert [sum(each.late for each in report.inputs) for report in reports] == [0, 0]
    rows = spark.read.json(str(tmp_path / "busiest")).collect()
    assert sorted((row.window_start[11:16], row.n) for row in rows) == [("00:00", 2), ("01:00", 3), ("02:00", 1)]


LOOKUPS = "".join(
    f"CREATE {kind} {name} (id BIGINT {key}, v BIGINT) WITH (connector = 'files', path = '{{folder}}/{name}', "
    "format = 'json', files_per_batch = 1);\n"
    for kind, name, key in (("STREAM", "s", "KEY"), ("TABLE", "t", "PRIMARY KEY"), ("TABLE", "u", "PRIMARY KEY"))
)


def test_a_chain_of_lookups_finds_what_was_there_before_its_rows(spark: SparkSession, tmp_path: Path) -> None:
    files = {"t/1": [1, 2], "u/1": [1], "u/2": [2], "s/1": [1, 2]}
    for time, (name, ids) in enumerate(files.items()):
        written(tmp_path, f"{name}.json", "".join(f'{{"id": {each}, "v": {each}}}\n' for each in ids))
        os.utime(tmp_path / f"{name}.json", (time, time))
    sql = "CREATE STREAM result AS SELECT STREAM s.id, t.v AS t, u.v AS u FROM s LEFT JOIN t ON s.id = t.id LEFT JOIN u"
    program = penstock.compile(f"{LOOKUPS.format(folder=tmp_path)}{sql} ON s.id = u.id").program
    limits = [
        {each.name: dict(each.options).get("files_per_batch") for each in query.inputs} for query in program.queries
    ]
    assert limits == [{"s": 1, "t": 1}, {"result_intermediate1": None, "u": None}]
    with RuntimeSession(spark, str(tmp_path / "checkpoint")) as session:
        session.run_once(program, drain=False)
        rows = sorted(session.rows("result"), key=lambda row: row["id"])
    assert rows == [{"id": 1, "t": 1, "u": 1}, {"id": 2, "t": 2, "u": 2}]
