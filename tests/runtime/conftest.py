"""One Spark for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from penstock.runtime import Session
from penstock.runtime.jvm import start_spark
from tests.runtime.programs import Place


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The Spark of all tests in this process."""
    running = SparkContext._active_spark_context
    if running is not None:
        yield SparkSession(running).newSession()
        return
    spark = start_spark("local[2]")
    yield spark
    spark.stop()


@pytest.fixture
def session(spark: SparkSession) -> Iterator[Session]:
    """A session without a checkpoint folder."""
    with Session(spark) as session:
        yield session


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)
