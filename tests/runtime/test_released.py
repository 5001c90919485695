"""Spark may forget a query that has ended: nothing of ours holds it."""

from __future__ import annotations

import gc
import json
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import penstock
from penstock.runtime import QueryHandle, RunError, RuntimeSession

pytestmark = pytest.mark.spark


def list_held() -> set[int]:
    """Queries that Python still holds."""
    gc.collect()
    return {id(each) for each in gc.get_objects() if isinstance(each, StreamingQuery | QueryHandle)}


def assert_none_but(before: set[int]) -> None:
    """Threads that look after a query may take a moment to end."""
    deadline = time.monotonic() + 20
    while not list_held() <= before:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def script(folder: Path, value: str = "id") -> str:
    """Two queries, one of which writes rejected rows."""
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / "1.json").write_text(f"{json.dumps({'id': 1})}\nno record\n")
    files = f"connector = 'files', path = '{folder}/{{}}', format = 'json'"
    return (
        f"CREATE STREAM s (id INT) WITH ({files.format('in')});"
        f"CREATE STREAM t WITH ({files.format('out')}) AS SELECT STREAM {value} AS id FROM s;"
        "CREATE TABLE n AS SELECT id, COUNT(*) AS n FROM s GROUP BY id"
    )


def test_after_a_run(spark: SparkSession, tmp_path: Path) -> None:
    before = list_held()
    with RuntimeSession(spark) as session:
        session.run_once(penstock.compile(script(tmp_path)).program, drain=True)
        assert_none_but(before)
        assert not session._sessions.opened


def test_after_a_stop(spark: SparkSession, tmp_path: Path) -> None:
    """A session goes on, and knows no more of the queries that have been stopped as it starts others."""
    before = list_held()
    with RuntimeSession(spark) as session:
        for handle in session.start(penstock.compile(script(tmp_path)).program):
            handle.await_done(0)
            handle.stop()
        del handle
        assert not session._sessions.opened
        session.start(penstock.compile("CREATE STREAM r (n BIGINT) WITH (connector = 'rate');").program)
        assert_none_but(before)


def test_after_a_failure(spark: SparkSession, tmp_path: Path) -> None:
    before = list_held()
    with RuntimeSession(spark) as session:
        program = penstock.compile(script(tmp_path, "id / (id - id)")).program
        with pytest.raises(RunError):
            session.run_once(program, drain=True)
        assert_none_but(before)
        assert not session._sessions.opened
