"""Sessions, and folders with inputs, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.runtime import RuntimeSession
from tests.runtime.programs import Place


@pytest.fixture
def session(spark: SparkSession) -> Iterator[RuntimeSession]:
    """A session without a checkpoint folder."""
    with RuntimeSession(spark) as session:
        yield session


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)
