"""What `penstock.connect` makes of its arguments."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession

import penstock
from tests.house.files import ROOT

SETTINGS = {
    "spark.app.name": "theirs",
    "spark.sql.files.maxPartitionBytes": "1g",
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.extensions": "theirs.Extensions",
}


class GivenSpark(SparkSession):
    """A session of a Spark that is somewhere."""

    def __init__(self) -> None:
        self.made = 0
        self.left = dict(SETTINGS)
        self.stopped = False

    def newSession(self) -> SparkSession:
        self.made += 1
        return self

    @property
    def version(self) -> str:
        return pyspark.__version__

    @property
    def conf(self) -> Any:
        return SimpleNamespace(
            getAll=dict(self.left), isModifiable=lambda name: "extensions" not in name, unset=self.left.pop
        )

    def stop(self) -> None:
        self.stopped = True


def test_a_given_spark_is_used_and_not_stopped() -> None:
    spark = GivenSpark()
    with penstock.connect(spark=spark) as session:
        assert session.tables() == []
    assert (spark.made, spark.stopped) == (1, False)


def test_settings_of_a_given_spark_on_which_results_depend_are_left_out() -> None:
    spark = GivenSpark()
    with penstock.connect(spark=spark):
        assert [*spark.left] == ["spark.app.name", "spark.sql.files.maxPartitionBytes", "spark.sql.extensions"]


def test_settings_are_refused_for_a_given_spark() -> None:
    with pytest.raises(penstock.RunError, match="R048"):
        penstock.connect(spark=GivenSpark(), settings={"spark.executor.memory": "2g"})


def test_a_session_of_spark_connect_is_refused() -> None:
    other: Any = object()
    with pytest.raises(penstock.RunError, match="R002"):
        penstock.connect(spark=other)


@pytest.mark.parametrize(
    "arguments",
    [
        {"master": "http://localhost:8080"},
        {"master": "http://localhost:8080", "token": "t", "checkpoint": "state"},
        {"master": "https://localhost:8080", "token": "t", "settings": {}},
        {"master": "local[2]", "token": "t"},
        {"token": "t"},
        {"authority": "cert.pem"},
        {"master": "local[2]", "spark": GivenSpark()},
    ],
)
def test_arguments_that_do_not_go_together_are_refused(arguments: dict[str, Any]) -> None:
    connect: Any = penstock.connect
    with pytest.raises(TypeError):
        connect(**arguments)


def test_a_client_needs_no_spark() -> None:
    code = "import penstock\npenstock.RemoteSession\npenstock.Rows\nimport sys\nprint('pyspark' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
