"""Options of the test run, and the one Spark that all tests of a process share."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# A change is judged by the same examples each time; people at their desks look for new ones.
hypothesis.settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    hypothesis.settings.load_profile("ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--accept` writes what came out into the files that say what should."""
    parser.addoption("--accept", action="store_true", help="rewrite the expectations of golden tests")


@pytest.fixture(scope="session")
def only_spark() -> Iterator[SparkSession]:
    """Spark on two cores of this machine. Imported here: most tests need no JVM."""
    from penstock.runtime.jvm import start_spark

    # Tests are short: the JVM's slow, optimising compiler would cost more than it gains.
    os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    # Spark hands times to Python in the local time zone.
    os.environ["TZ"] = "UTC"
    time.tzset()
    session = start_spark("local[2]")
    yield session
    session.stop()


@pytest.fixture
def spark(only_spark: SparkSession) -> SparkSession:
    """A session of its own over that Spark, so that views and settings of one test are not there in the next."""
    from penstock.codegen import lower
    from penstock.planner import Settings

    session = only_spark.newSession()
    for name, value in lower([], Settings(state_partitions=2)).settings:
        session.conf.set(name, value)
    return session
