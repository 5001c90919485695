"""A broker for the tests of this folder, where Maven can fetch it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from examples.kafka.broker import Broker, fetch_broker, fetch_jars
from penstock.codegen.spark_versions import REAL_TIME_SINCE, number_text
from penstock.runtime.spark.spark_version import installed_spark
from tests.kafka.registry import RegistryServer, run_registry

PASSWORD = "se'c;r et"
"""Of the broker's user ann."""


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    reason = fetch_broker()
    if reason is not None:
        pytest.skip(reason)
    started = Broker.start(tmp_path_factory.mktemp("broker"), {"ann": PASSWORD})
    try:
        yield started
    finally:
        assert started.process is not None
        started.process.kill()  # it would take half a minute to close the files of all topics
        started.process.wait()


@pytest.fixture(scope="session")
def jars() -> None:
    """Skips tests of Spark where its archives for Kafka cannot be had."""
    reason = fetch_jars()
    if reason is not None:
        pytest.skip(reason)


@pytest.fixture(scope="session")
def real_time() -> None:
    """Skips tests of queries in real time where Penstock refuses them for this Spark: `test_newer_functions.py`."""
    if installed_spark() < REAL_TIME_SINCE:
        pytest.skip(f"real time is refused (R009) before Spark {number_text(REAL_TIME_SINCE)}")


@pytest.fixture
def registry() -> Iterator[RegistryServer]:
    with run_registry() as registry:
        yield registry
