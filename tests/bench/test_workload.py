"""Every query has a program for every system, and Penstock takes its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock
from bench.workload import QUERIES, QUERY_SETS, SYSTEMS, Query, can_run, program

ALL = [query for queries in QUERY_SETS.values() for query in queries]


@pytest.mark.parametrize("query", ALL, ids=lambda query: query.name)
def test_programs_are_complete(query: Query, tmp_path: Path) -> None:
    for system in SYSTEMS:
        if query.folder == "lookup" and not can_run(system, query):
            continue
        command = program(system, query, tmp_path, tmp_path / "out", tmp_path, "csv")
        if system.language == "spark":
            assert (query.path / "spark.py").exists()
        else:
            assert "$" not in Path(command[-1 if system.language == "penstock" else -2]).read_text()
        if system.language == "penstock":
            [running] = penstock.compile(Path(command[-1]).read_text()).queries
            assert running.sink.name == "out"


def test_every_folder_is_run() -> None:
    folders = {folder.name for folder in QUERIES.iterdir()} - {"streams", "tables", "__pycache__"}
    assert folders == {query.path.name for query in ALL}
