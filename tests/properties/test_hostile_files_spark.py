"""Hostile names and values -> files of every format have them, and nothing else, and so do the rejected records.

`PENSTOCK_HOSTILE_FILES` sets the number of draws.
"""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import penstock
from penstock import runtime
from penstock.diagnostics.terminal import IN_LINES
from tests.properties.hostile import draw_names, draw_text, literal, quote

pytestmark = [pytest.mark.spark, pytest.mark.draws]
DRAWS = int(os.environ.get("PENSTOCK_HOSTILE_FILES", "1"))
ROWS = 5


def draw_file(random: Random) -> str:
    """A name that a file can have, and that readers of folders do not pass over."""
    return "f" + "".join(char for char in draw_text(random) if char not in "/\0:\r\n")[:40]


def draw_folder(random: Random) -> str:
    """A name of a folder that is no pattern."""
    return "".join(char for char in draw_file(random) if char not in "*?[]{}\\")


def read_files(folder: Path, form: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in sorted(folder.glob("part-*")):
        if form == "parquet":
            found += pq.read_table(path).to_pylist()
        elif form == "json":
            found += [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]
        else:
            with path.open(newline="", encoding="utf-8") as file:
                found += csv.DictReader(file)
    return found


@pytest.mark.parametrize("seed", range(DRAWS))
def test_files(spark: SparkSession, tmp_path: Path, seed: int, capfd: pytest.CaptureFixture[str]) -> None:
    random = Random(seed)
    stream, key, text, *sinks = draw_names(random, 6)
    source = tmp_path / draw_folder(random)
    source.mkdir()
    rows = [{key: number, text: draw_text(random)} for number in range(ROWS)]
    bad = '{"' + draw_text(random).replace("\n", "").replace("\r", "") + '": '
    name = draw_file(random) + ".json"
    lines = [*(json.dumps(row, ensure_ascii=random.random() < 0.5) for row in rows), bad]
    (source / name).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    sql = f"""CREATE STREAM {quote(stream)} ({quote(key)} BIGINT KEY, {quote(text)} STRING)
WITH (connector = 'files', path = {literal(str(source))}, format = 'json');
"""
    places = {form: tmp_path / f"{form}{draw_folder(random)}" for form in ("json", "csv", "parquet")}
    for sink, (form, place) in zip(sinks, places.items(), strict=True):
        options = f"connector = 'files', path = {literal(str(place))}, format = '{form}'"
        sql += f"CREATE STREAM {quote(sink)} WITH ({options}) AS SELECT STREAM * FROM {quote(stream)};\n"
    sql += f"CREATE STREAM shown WITH (connector = 'console') AS SELECT STREAM * FROM {quote(stream)};\n"
    with runtime.connect(spark=spark) as session:
        reports = session.run_once(penstock.compile(sql).program, drain=True)
    assert [(part.read, part.rejected, part.used) for report in reports for part in report.inputs] == [(6, 1, 5)] * 4
    for form, place in places.items():
        found = [
            {name: int(value) if name == key else value for name, value in row.items()}
            for row in read_files(place, form)
        ]
        assert sorted(found, key=lambda row: row[key]) == rows
        (rejected,) = [
            each for path in place.parent.glob(f"{place.name}_rejected/*") for each in read_files(path, "json")
        ]
        assert (rejected["reason"].partition(":")[0], rejected["record"]) == ("malformed record", bad)
    printed = capfd.readouterr()
    assert "shown, batch 0" in printed.out
    assert IN_LINES.search(printed.out) is None
    assert IN_LINES.search(printed.err) is None
