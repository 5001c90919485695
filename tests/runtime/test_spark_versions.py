"""Only versions of Spark that Penstock was tried with are taken, and what is known of them is true of this one."""

from __future__ import annotations

import tomllib
from types import SimpleNamespace
from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession

import penstock
from penstock import runtime
from penstock.codegen.spark_versions import SPARK_VERSIONS, find_objection, number_text, read_number
from penstock.planner.functions import FUNCTIONS
from penstock.runtime import RunError, RuntimeSession
from penstock.runtime.checkpoint.checkpoint import describe_query, refusal
from penstock.runtime.spark.spark_version import check_same_spark, installed_spark, known_spark
from tests.house.files import ROOT

FIRST, LAST = min(SPARK_VERSIONS), max(SPARK_VERSIONS)
SCRIPT = "CREATE STREAM r (n BIGINT) WITH (connector = 'rate'); SELECT STREAM FROM_BASE32('MY') AS b FROM r;"


def test_the_range_of_the_package_is_the_table() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"pyspark>={number_text(FIRST)},<{LAST[0]}.{LAST[1] + 1}" in project["dependencies"]
    assert list(SPARK_VERSIONS) == sorted(SPARK_VERSIONS)


@pytest.mark.parametrize(
    ("version", "number"),
    [("4.3.0", (4, 3)), ("4.2.1", (4, 2)), ("4.3", (4, 3)), ("4.3.0-amzn-1", (4, 3)), ("4.30.0", (4, 30)), ("4", None)],
)
def test_versions_are_read(version: str, number: tuple[int, int] | None) -> None:
    assert read_number(version) == number


@pytest.mark.parametrize(
    ("version", "told"),
    [("3.5.9", "classic"), ("4.0.5", "TIME"), ("4.1.4", "MAX_BY"), ("4.4.0", "4.2 and 4.3"), ("new", "4.2 and 4.3")],
)
def test_other_versions_are_refused_before_anything_starts(
    version: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pyspark, "__version__", version)
    with pytest.raises(RunError) as refused:
        installed_spark()
    (found,) = refused.value.diagnostics
    assert (found.code, told in found.message, found.hint) == ("R008", True, "pip install 'pyspark>=4.2,<4.4'")
    monkeypatch.setattr("penstock.runtime.spark.jvm._launch", lambda *_: pytest.fail("a JVM was started"))
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", None)
    with pytest.raises(RunError, match="R008"):
        runtime.connect("local")


def test_a_spark_of_another_version_than_pyspark_is_refused() -> None:
    other: Any = SimpleNamespace(version="4.1.4")
    with pytest.raises(RunError, match=f"the PySpark of this Python is {pyspark.__version__}"):
        check_same_spark(other)


def test_a_checkpoint_of_another_version_is_refused() -> None:
    (query,) = penstock.compile(SCRIPT).program.queries
    here = describe_query(query)
    assert refusal(here, here, "p") is None
    found = refusal(here | {"spark": "4.1"}, here, "p")
    assert found is not None
    assert (found.code, "with Spark 4.1, and" in found.message, "--overwrite" in (found.hint or "")) == (
        "R056",
        True,
        True,
    )
    unsaid = {name: value for name, value in here.items() if name != "spark"}
    assert (refusal(unsaid, here, "p") is None) == (here["spark"] == "4.3")  # only 4.3 has made such checkpoints


@pytest.mark.spark
def test_what_is_known_of_this_spark_is_true(spark: SparkSession) -> None:
    names = {row[0].upper() for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    lacking = {each.name for each in FUNCTIONS if each.since is not None and each.since > installed_spark()}
    dated = {each.name for each in FUNCTIONS if each.since is not None}
    assert dated - names == lacking
    assert find_objection(spark.version) is None
    for name, value in known_spark().settings:
        assert spark.conf.get(name) == value


@pytest.mark.spark
def test_queries_with_functions_of_newer_versions_are_refused(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.runtime.runtime_session.installed_spark", lambda: FIRST)
    with RuntimeSession(spark) as session, pytest.raises(RunError, match="R009: FROM_BASE32 in query"):
        session.start(penstock.compile(SCRIPT).program)
