"""Which settings of Spark users may give, and that secret ones are shown nowhere."""

from __future__ import annotations

import pytest

from penstock.codegen import lower
from penstock.codegen.program import CHECK_SETTING, PARTITIONS_SETTING, STORE_SETTING, VERSIONS_SETTING
from penstock.runtime import RunError
from penstock.runtime.spark.jvm import _ANY_SPARK
from penstock.runtime.spark.spark_settings import check_settings, redact, without_secrets

NEEDED = [
    *dict(lower([]).settings),
    *(STORE_SETTING, CHECK_SETTING, PARTITIONS_SETTING),
    *(name for name in _ANY_SPARK if name.startswith("spark.sql.") and name != VERSIONS_SETTING),
    "spark.sql.streaming.statefulOperator.checkCorrectness.enabled",
    "spark.sql.files.ignoreCorruptFiles",
    "spark.sql.ui.",
]


@pytest.mark.parametrize("name", [*NEEDED[:-1], "spark.master", "spark.remote", "hadoop.x", "spark", ""])
def test_what_results_depend_on_is_refused(name: str) -> None:
    with pytest.raises(RunError) as refused:
        check_settings({"spark.driver.memory": "1g", name: "geheim"})
    (finding,) = refused.value.diagnostics
    assert finding.code == "R048"
    assert finding.message.startswith(f"setting {name} is not allowed: ")
    assert "geheim" not in str(finding)


def test_speed_memory_and_places_can_be_given() -> None:
    names = (
        *("spark.driver.memory", "spark.hadoop.fs.s3a.secret.key", "spark.jars.packages", "spark.ui.enabled"),
        *("spark.sql.files.maxPartitionBytes", "spark.sql.ui.retainedExecutions", VERSIONS_SETTING),
    )
    check_settings(dict.fromkeys(names, "1"))


def test_secrets_are_neither_in_a_command_line_nor_in_an_error() -> None:
    given = {"spark.hadoop.fs.s3a.secret.key": "geheim", "spark.ssl.keyPassword": "auch", "spark.driver.memory": "1g"}
    assert without_secrets(given) == {"spark.driver.memory": "1g"}
    assert redact("cannot use geheim with auch and 1g", given) == "cannot use *** with *** and 1g"
