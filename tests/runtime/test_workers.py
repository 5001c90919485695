"""The Python of a cluster's workers is looked at before a query needs it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.runtime import RunError
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.spark.workers import LEAST, check_shared, check_workers, list_needed_packages

DECLARED = """CREATE STREAM s (k INT, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL '1' SECOND)
WITH (connector = 'files', path = 'x', format = 'json');
"""


@pytest.mark.parametrize(
    ("query", "packages"),
    [
        ("SELECT STREAM k FROM s", set()),
        (
            "CREATE TABLE t AS SELECT COUNT(*) AS n FROM s GROUP BY TUMBLE(time, INTERVAL '1' HOUR)",
            set(),
        ),
        (
            "SELECT STREAM COUNT(*) OVER (ORDER BY time RANGE INTERVAL '1' HOUR PRECEDING) AS n FROM s",
            {"pandas", "pyarrow", "duckdb"},
        ),
    ],
)
def test_only_what_a_program_needs_is_asked_for(query: str, packages: set[str]) -> None:
    needed = list_needed_packages(penstock.compile(DECLARED + query).program)
    assert needed - {"pyspark"} == packages
    assert bool(needed) == bool(packages)


AVRO = "connector = 'kafka', topic = '{}', bootstrap_servers = 'h:1', schema_registry = 'http://h:1', {}"


@pytest.mark.parametrize(
    ("read", "written", "needs"),
    [
        ("format = 'avro'", "format = 'avro'", True),
        ("format = 'json', key_format = 'avro'", "format = 'avro'", True),
        (None, "format = 'avro', delivery = 'at_least_once'", True),
        (None, "format = 'avro'", False),
    ],
)
def test_who_reads_or_writes_avro(read: str | None, written: str, needs: bool) -> None:
    place = "connector = 'files', path = 'x', format = 'json'" if read is None else AVRO.format("a", read)
    script = f"""CREATE STREAM a (k BIGINT KEY) WITH ({place});
      CREATE STREAM b WITH ({AVRO.format("b", written)}) AS SELECT STREAM k FROM a;"""
    needed = list_needed_packages(penstock.compile(script).program)
    assert needed == ({"pyspark", "pyarrow", "pandas", "fastavro"} if needs else set())


def test_the_least_versions_are_those_of_the_package() -> None:
    dependencies = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    for name, least in LEAST.items():
        assert any(each.startswith(f"{name}>={'.'.join(map(str, least))}") for each in dependencies)


def fake_python(path: Path, versions: dict[str, str | None]) -> str:
    """A program that answers as the Python of a worker does."""
    path.write_text(f"#!/bin/sh\necho '{json.dumps(['worker7', versions])}'\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.spark
def test_workers_are_told_what_they_lack(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(python: str) -> str:
        monkeypatch.setattr(spark.sparkContext, "pythonExec", python)
        with pytest.raises(RunError) as refused:
            check_workers(spark, {"pyspark", "pyarrow", "duckdb"})
        (finding,) = refused.value.diagnostics
        assert finding.code == "R047"
        return f"{finding.message}; {finding.hint}"

    check_workers(spark, {"pyspark", "pyarrow", "pandas", "duckdb"})
    nowhere = told("/nowhere/python")
    assert 'Cannot run program "/nowhere/python"' in nowhere
    assert "\n" not in nowhere
    fake = fake_python(tmp_path / "python", {"python": "2.7.18", "pyspark": None, "pyarrow": "3.0", "duckdb": "99.1"})
    lacking = told(fake)
    assert lacking.startswith(f"{fake} on worker7 cannot run queries: its python is 2.7.18, on this machine it is 3.")
    assert "; it has no pyspark; its pyarrow is 3.0, and at least 18 is needed; on each worker: " in lacking


@pytest.mark.spark
def test_workers_are_asked_for_a_file_of_the_checkpoint(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage, folder = Storage(spark), str(tmp_path / "a b")
    check_shared(spark, storage, folder)
    assert storage.names(folder) == []
    monkeypatch.setattr(storage, "create", lambda path, text: True)
    with pytest.raises(RunError) as refused:
        check_shared(spark, storage, folder)
    (finding,) = refused.value.diagnostics
    assert finding.code == "R049"
    assert "does not find a file" in finding.message
