"""Options of the test run, and the one Spark that all tests of a process share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--accept` writes what came out into the files that say what should."""
    parser.addoption("--accept", action="store_true", help="rewrite the expectations of golden tests")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Spark on two cores of this machine. Imported here: most tests need no JVM."""
    from penstock.runtime.jvm import start_spark

    session = start_spark("local[2]")
    yield session
    session.stop()
