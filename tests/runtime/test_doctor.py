"""`penstock doctor` tries what queries need, and ends with what to do about the first thing that fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark import SparkContext
from pyspark.sql import SparkSession

from penstock.commands.cli import main
from penstock.runtime import RunError, RuntimeSession, list_versions
from penstock.runtime.checkpoint.lock import lock
from penstock.runtime.checkpoint.storage import Storage


@pytest.mark.spark
def test_each_step_is_told_and_nothing_is_left(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    with RuntimeSession(spark, str(folder)) as session:
        python, rows, files, locked = session.examine()
    assert "has what queries need" in python
    assert rows.startswith("rows went to DuckDB and back on 1 executor: ")
    assert files.startswith("4 tasks wrote files in ")
    assert locked.endswith("can be locked")
    assert [each.name for each in folder.rglob("*")] == []


@pytest.mark.spark
def test_a_python_that_lacks_packages_ends_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "/nowhere/python")
    with RuntimeSession(spark, str(tmp_path)) as session, pytest.raises(RunError) as refused:
        list(session.examine())
    assert refused.value.diagnostics[0].code == "R047"


@pytest.mark.spark
def test_a_lock_outside_of_disks_is_a_lease(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage, place = Storage(spark), tmp_path / "q"
    monkeypatch.setattr(storage, "is_on_disk", lambda path: False)
    losses: list[RunError] = []
    for epoch in ("1", "2"):
        with lock(spark, storage, f"{place}/lock", losses.append):
            assert [each.name for each in (place / "lock").iterdir() if not each.name.startswith(".")] == [epoch]
            assert not storage.create(f"{place}/lock/{epoch}", "")
    assert losses == []


def test_versions_are_those_of_this_machine() -> None:
    versions = list_versions()
    assert set(versions) == {"python", "pyspark", "pyarrow", "pandas", "duckdb"}
    assert all(versions.values())


def test_spark_connect_is_refused() -> None:
    refused = CliRunner().invoke(main, ["doctor", "--master", "sc://me:secret@host:15002"])
    assert refused.exit_code == 3
    assert "error[R002]" in refused.output
    assert "Spark Connect, which is not supported" in refused.output
    assert "secret" not in refused.output


def test_a_variable_that_asks_for_spark_connect_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    monkeypatch.setenv("SPARK_REMOTE", "sc://me:secret@host:15002")
    refused = CliRunner().invoke(main, ["doctor"])
    assert refused.exit_code == 3
    assert "error[R002]: cannot start Spark: SPARK_REMOTE is of Spark Connect, which is not supported" in refused.output
    assert "hint: unset SPARK_REMOTE" in refused.output
    assert "secret" not in refused.output
