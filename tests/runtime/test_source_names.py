"""Sources have names in new checkpoints, so that a later query may read others. Old checkpoints go on as they are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

import penstock
from penstock.codegen.folders import source_name
from penstock.kit import checkpoint_sources as given_names
from penstock.kit.checkpoint_sources import EVOLUTION_SETTING, distinguish_names, has_names
from penstock.runtime import QueryReport, RuntimeSession
from penstock.runtime.checkpoint.spark_logs import offsets_of
from penstock.runtime.query import source_names

NAMES = st.text(min_size=1, max_size=12) | st.from_regex(r"[aB_]{1,4}(__[23])?", fullmatch=True) | st.just("end")
NAMED = {*distinguish_names([source_name("größe"), "end"] * 2)}
"""What the sources of a query may be called."""
DECLARED = """CREATE STREAM `{name}` (id BIGINT KEY, v BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 1 MINUTE)
  WITH (connector = 'files', path = '{folder}/in', format = 'json');"""
QUERIES = {
    "self-join": """SELECT STREAM a.id AS id FROM `{name}` a JOIN `{name}` b
      ON a.id = b.id AND b.time BETWEEN a.time AND a.time + 1 MINUTE""",
    "union": """SELECT STREAM id FROM `{name}` UNION ALL SELECT STREAM id FROM `{name}` WHERE v > 0""",
    "group": """SELECT STREAM id, COUNT(*) AS n FROM `{name}` GROUP BY id, TUMBLE(time, 1 MINUTE)""",
}


@given(st.lists(NAMES, unique_by=str.lower, max_size=6), st.data())
def test_names_are_those_of_folders_and_different(names: list[str], data: st.DataObject) -> None:
    read = data.draw(st.permutations([*names, *names, "end"]))
    told = distinguish_names([each if each == "end" else source_name(each) for each in read if each != "end"] + ["end"])
    assert all(re.fullmatch(r"[a-zA-Z0-9_]+", each, re.ASCII) for each in told)
    assert len({each.lower() for each in told}) == len(told)


def test_most_names_are_those_of_the_script() -> None:
    assert [source_name(each) for each in ("orders", "Click_Events_2", "end", "größe", "a__b")] == [
        *("orders", "Click_Events_2", "end__361e48d0", "gr_e__d353a267", "a_b__63e5c1c4"),
    ]


def test_offsets_are_told_by_name_or_place() -> None:
    head = '{"batchWatermarkMs":0,"batchTimestampMs":0,"conf":{}}'
    assert offsets_of("offsets/0", f'v1\n{head}\n{{"logOffset":1}}\n-') == {"0": {"logOffset": 1}, "1": None}
    assert offsets_of("offsets/0", f'v2\n{head}\norders:{{"t":{{"0":7}}}}\nend__2:3') == {
        "orders": {"t": {"0": 7}},
        "end__2": 3,
    }


def test_spark_notes_names_since_4_3(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of 4.2 makes folders of names, and notes offsets by place."""
    for version, expected in (("4.2.0", False), ("4.3.0", True), ("4.10.1", True)):
        monkeypatch.setattr(given_names, "pyspark_version", version)
        assert has_names(None) is expected
        assert (has_names("v1\n{}"), has_names("v2\n{}")) == (False, True)


class Subject:
    """A script over a stream and its checkpoint. `name` is what the script calls the stream."""

    def __init__(self, spark: SparkSession, folder: Path, query: str) -> None:
        self._spark, self._folder, self._query = spark, folder, query
        self._files = 0
        (folder / "in").mkdir()

    def put(self, *seconds: int) -> None:
        self._files += 1
        rows = [{"id": 1, "v": each % 2, "time": f"2025-01-01T00:{each // 60:02}:{each % 60:02}Z"} for each in seconds]
        text = "".join(json.dumps(row) + "\n" for row in [*rows, {"id": "?"}])
        (self._folder / "in" / f"{self._files}.json").write_text(text, encoding="utf-8")

    def run(self, name: str, *, drain: bool = False) -> QueryReport:
        sink = f"WITH (connector = 'files', path = '{self._folder}/out', format = 'json')"
        sql = f"{DECLARED} CREATE STREAM q {sink} AS {QUERIES[self._query]};".replace("{name}", name)
        with RuntimeSession(self._spark.newSession(), str(self._folder / "state")) as session:
            program = penstock.compile(sql.replace("{folder}", str(self._folder))).program
            return session.run_once(program, drain=drain)[0]

    def rows(self) -> list[str]:
        files = (self._folder / "out").glob("*.json")
        return sorted(line for file in files for line in file.read_text(encoding="utf-8").splitlines())

    def sources(self, place: str = "state/q") -> list[str]:
        """What Spark calls the sources of a checkpoint."""
        folder = self._folder / place
        return sorted(each.name for each in (folder / "sources").iterdir())

    def versions(self) -> set[str]:
        files = (self._folder / "state" / "q" / "offsets").glob("[0-9]*")
        return {file.read_text(encoding="utf-8").splitlines()[0] for file in files}


@pytest.mark.spark
@pytest.mark.parametrize("query", QUERIES)
def test_a_checkpoint_goes_on_as_it_was_begun(
    spark: SparkSession, tmp_path: Path, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With names, or without them, as an earlier version has begun it."""
    rows = []
    for begun, name in (("old", "orders"), ("new", "größe")):
        (tmp_path / begun).mkdir()
        subject = Subject(spark, tmp_path / begun, query)
        subject.put(0, 1, 61)
        with monkeypatch.context() as patched:
            if begun == "old":
                patched.setattr(source_names, "has_names", lambda offsets: False)
            first = subject.run(name)
        assert first.inputs[0].rejected == 1
        for number in (1, 2):
            subject.put(200 * number - 5, 200 * number)
            report = subject.run(name, drain=number == 2)
            assert (report.inputs[0].read, report.inputs[0].rejected, report.inputs[0].late) == (3, 1, 0)
        rows.append(subject.rows())
        assert subject.versions() == {"v1" if begun == "old" else "v2"}
        if begun == "new":
            assert {source_name(name)} <= {*subject.sources()} <= NAMED
            assert source_name(name) in subject.sources("state/q/rejected/größe")
    assert rows[0] == rows[1] != []


@pytest.mark.spark
def test_spark_takes_another_source_into_a_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    """What names are for: a query of another program reads one source more, and goes on with the other."""
    subject = Subject(spark, tmp_path, "union")
    subject.put(0, 1)
    subject.run("orders")
    subject.put(2)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "1.json").write_text('{"id": 9}\n', encoding="utf-8")
    spark.conf.set(EVOLUTION_SETTING, "true")
    readers = {"orders": "in", "orders__2": "in", "more": "more"}
    streams = [
        spark.readStream.schema("id BIGINT").name(name).json(f"{tmp_path}/{folder}") for name, folder in readers.items()
    ]
    found: list[int] = []
    writer = streams[0].unionAll(streams[1]).unionAll(streams[2]).writeStream
    writer = writer.foreachBatch(lambda batch, _: found.extend(row.id for row in batch.collect() if row.id))
    started = writer.option("checkpointLocation", str(tmp_path / "state" / "q")).trigger(availableNow=True).start()
    started.awaitTermination()
    assert sorted(found) == [1, 1, 9]
