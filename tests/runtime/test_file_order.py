"""Files of equal times are read in the order of their paths, also where each has a micro-batch of its own."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.runtime import RuntimeSession

pytestmark = pytest.mark.spark

FILES = 12
THEN = 1_700_000_000
PATIENCE = 60  # seconds until a test has failed


def put(folder: Path, names: list[str], when: int) -> None:
    """Writes files of one time in any order. They are seen at once."""
    draft = folder.parent / f"draft{when}"
    for name in random.Random(when).sample(names, len(names)):
        path = draft / name[0] / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{{"name": "{name}"}}\n')
        os.utime(path, (when, when))
    draft.rename(folder / f"{when}")


def name_files(first: str) -> list[str]:
    return [f"{folder}{number:02}" for folder in (first, "z") for number in range(FILES)]


def script(folder: Path, files: int) -> str:
    place = f"connector = 'files', path = '{folder}', format = 'json', files_per_batch = {files}"
    return f"CREATE STREAM s (name STRING) WITH ({place}); CREATE STREAM o AS SELECT STREAM name FROM s;"


@pytest.mark.parametrize("kept", [True, False])
def test_a_run_to_the_end_reads_files_in_order(spark: SparkSession, tmp_path: Path, kept: bool) -> None:
    (tmp_path / "in").mkdir()
    put(tmp_path / "in", name_files("b"), THEN)
    put(tmp_path / "in", name_files("a"), THEN - 1)
    with RuntimeSession(spark, str(tmp_path / "state") if kept else None) as session:
        session.run_once(penstock.compile(script(tmp_path / "in", 5)).program, drain=True)
        rows = [row["name"] for row in session.rows("o")]
    assert rows == [*name_files("a"), *name_files("b")]


def test_a_running_query_reads_files_in_order(spark: SparkSession, tmp_path: Path) -> None:
    folder, expected = tmp_path / "in", [name_files("b"), name_files("a")]
    folder.mkdir()
    put(folder, expected[0], THEN)
    with RuntimeSession(spark, str(tmp_path / "state")) as session:
        (handle,) = session.start(penstock.compile(script(folder, 7)).program)
        wait_until(lambda: handle.status().rows == len(expected[0]))
        put(folder, expected[1], THEN - 1)  # older files that come later are read later
        wait_until(lambda: handle.status().rows == sum(map(len, expected)))
        rows = [row["name"] for row in session.rows("o")]
    assert rows == [*expected[0], *expected[1]]


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        Event().wait(0.1)
