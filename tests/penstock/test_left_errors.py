"""Queries that fail while nobody looks: the session says so when it is left."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock import RunError, Session
from penstock.left_errors import report_errors
from penstock.notebook import run_cell, show_status

SOURCE = """CREATE STREAM a (id BIGINT, v BIGINT) WITH (connector = 'files', path = '{path}', format = 'json');
CREATE STREAM good AS SELECT STREAM id FROM a;
"""
PARTS = "CREATE STREAM {name} AS SELECT STREAM id, 10 DIV v AS n FROM a;\n"


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.fixture
def source(tmp_path: Path) -> str:
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "1.json").write_text('{"id": 1, "v": 0}\n', encoding="utf-8")
    return SOURCE.format(path=folder)


@pytest.mark.spark
def test_a_failed_query_is_told(spark: SparkSession, source: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In its status, in the next cell of a notebook, when it is awaited, and when the block is left."""
    told = ["R020: division by zero in one", "R020: division by zero in two"]
    with pytest.raises(RunError) as raised:
        start_and_leave(spark, source, told)
    assert [line for line in str(raised.value).splitlines() if line.startswith("R020")] == told
    assert [each.code for each in raised.value.diagnostics] == ["R020", "R020"]
    with penstock.connect(spark=spark) as session:
        assert isinstance(session, Session)
        run_cell({"session": session}, "", source + PARTS.format(name="parts"))
        handle = session._spark._handles[-1]
        wait_for(lambda: handle.status().error)
        run_cell({"session": session}, "", "CREATE STREAM other AS SELECT STREAM id FROM a")
        assert "error[R020]: division by zero in parts" in capsys.readouterr().err
        run_cell({"session": session}, "", "CREATE STREAM another AS SELECT STREAM id FROM a")
        assert capsys.readouterr().err == ""
    with pytest.raises(KeyError) as masked:
        fail_in_a_block(spark, source)
    (note,) = masked.value.__notes__
    assert note.splitlines()[0] == "queries of this session failed, too: R020: division by zero in parts"


def start_and_leave(spark: SparkSession, source: str, told: list[str]) -> None:
    with penstock.connect(spark=spark) as session:
        assert isinstance(session, Session)
        one, two = (session.submit(sql)[-1] for sql in (source + PARTS.format(name="one"), PARTS.format(name="two")))
        wait_for(lambda: one.status().error and two.status().error)
        status = one.status()
        assert status.error is not None
        assert (status.running, status.error.code, status.error.message) == (False, "R020", "division by zero in one")
        assert show_status(status).startswith("one: failed, ")
        assert show_status(status).endswith("; R020: division by zero in one")
        three = session.submit(PARTS.format(name="three"))[-1]
        for _ in range(2):
            with pytest.raises(RunError, match="R020: division by zero in three"):
                three.await_done(60)
        assert [str(each.error).splitlines()[0] for each in (one, two)] == told
        stopped = session.submit("CREATE STREAM four AS SELECT STREAM id FROM a")[-1]
        stopped.stop()
        assert (stopped.status().running, stopped.status().error) == (False, None)


def fail_in_a_block(spark: SparkSession, source: str) -> None:
    with penstock.connect(spark=spark) as session:
        (_, parts) = session.submit(source + PARTS.format(name="parts"))
        wait_for(lambda: parts.status().error)
        raise KeyError("mine")


@pytest.mark.parametrize("failure", [None, ValueError("x")])
def test_without_a_failure_nothing_is_raised(failure: Any) -> None:
    if failure is None:
        report_errors(None, None)
        return
    with pytest.raises(ValueError, match="x"):
        report_errors(failure, None)
