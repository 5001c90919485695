"""What stands in the way of a run is told before Spark starts."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from penstock.codegen.program import Program
from penstock.compilation import compile
from penstock.runtime import RunError, check_before_start
from penstock.runtime.checkpoint.checkpoint import describe_query

SCRIPT = """CREATE STREAM s (id BIGINT) WITH (connector = 'files', path = '{folder}/in', format = 'json');
CREATE STREAM t WITH (connector = 'files', path = '{folder}/out', format = 'json') AS SELECT STREAM id {more} FROM s;
CREATE STREAM t_again (id BIGINT) WITH (connector = 'files', path = '{folder}/out', format = 'json');
CREATE STREAM u WITH (connector = 'files', path = '{folder}/end', format = 'json') AS SELECT STREAM id FROM t_again;
"""


def program(folder: Path, more: str = "") -> Program:
    return compile(SCRIPT.format(folder=folder, more=more)).program


def refusals(folder: Path, checkpoint: Path | None = None, *, anew: bool = False, overwrite: bool = False) -> list[str]:
    place = None if checkpoint is None else str(checkpoint)
    try:
        check_before_start(program(folder), None, place, anew=anew, overwrite=overwrite)
    except RunError as refused:
        return [f"{each.code} {each.message.rpartition('/')[2]}" for each in refused.diagnostics]
    return []


def test_a_missing_input_is_told(tmp_path: Path) -> None:
    """What a query of the script writes may still come."""
    assert refusals(tmp_path) == ["R003 in"]
    (tmp_path / "in").mkdir()
    assert refusals(tmp_path) == []
    check_before_start(program(tmp_path / "nowhere"), "spark://host:7077", None)


def test_what_spark_submit_has_started_is_not_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its master may be a cluster, whose default file system has the paths."""
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert refusals(tmp_path) == []


def test_an_input_that_may_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    for name in ("1.json", ".hidden", "_SUCCESS"):
        (tmp_path / "in" / name).write_text("")
    unreadable = [tmp_path / "in" / name for name in ("1.json", ".hidden", "_SUCCESS")]
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) not in unreadable and access(path, mode))
    assert refusals(tmp_path) == ["R004 1.json"]
    state = tmp_path / "state" / "t"
    (state / "offsets").mkdir(parents=True)
    query, _ = program(tmp_path).queries
    (state / "penstock.json").write_text(json.dumps(describe_query(query)))
    assert refusals(tmp_path, tmp_path / "state") == ["R004 1.json"]  # no micro-batch has begun
    (state / "offsets" / "0").write_text("v1")
    assert refusals(tmp_path, tmp_path / "state") == []  # it may have been read, and locked away
    assert refusals(tmp_path, tmp_path / "state", anew=True) == ["R004 1.json"]
    unreadable.append(tmp_path / "in")
    assert refusals(tmp_path, tmp_path / "state") == ["R004 in"]


def test_rows_of_an_earlier_run_are_told(tmp_path: Path) -> None:
    for name in ("in", "out/_spark_metadata", "end/_spark_metadata", "out_rejected/s/_spark_metadata"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "0").write_text("v1")
    assert refusals(tmp_path) == ["R014 out", "R014 s", "R014 end"]
    assert refusals(tmp_path, tmp_path / "state", anew=True) == ["R014 out", "R014 s", "R014 end"]
    assert refusals(tmp_path, tmp_path / "state", overwrite=True) == []
    for name in ("t", "u", "t/rejected/s"):
        (tmp_path / "state" / name / "offsets").mkdir(parents=True)
        (tmp_path / "state" / name / "offsets" / "0").write_text("v1")
    for query in program(tmp_path).queries:
        (tmp_path / "state" / query.name / "penstock.json").write_text(json.dumps(describe_query(query)))
    assert refusals(tmp_path, tmp_path / "state") == []


def test_a_checkpoint_of_another_query_is_told(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    state = tmp_path / "state" / "t"
    (state / "offsets").mkdir(parents=True)
    assert refusals(tmp_path, tmp_path / "state") == ["R050 penstock.json"]
    past, _ = program(tmp_path, ", id + 1 AS more").queries
    (state / "penstock.json").write_text(json.dumps(describe_query(past)))
    assert refusals(tmp_path, tmp_path / "state") == ["R010 t"]
    assert refusals(tmp_path, tmp_path / "state", anew=True) == []
    (state / "removing").write_text("")
    assert refusals(tmp_path, tmp_path / "state") == []
