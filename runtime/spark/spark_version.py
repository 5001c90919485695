"""The Spark that this process has -> whether Penstock runs on it, and what is known of it."""

from __future__ import annotations

import pyspark
from pyspark.sql import SparkSession

from penstock.codegen.spark_versions import (
    SPARK_VERSIONS,
    Number,
    SparkVersion,
    find_objection,
    number_text,
    read_number,
)
from penstock.diagnostics.codes.running import R008
from penstock.runtime.failure.errors import RunError


def installed_spark() -> Number:
    """The version of the installed PySpark.

    Raises:
        RunError: Penstock does not run on it.
    """
    version = pyspark.__version__
    objection, number = find_objection(version), read_number(version)
    if objection is not None or number is None:
        raise RunError([R008.at(None, version=version, reason=objection).with_hint(_how_to_get())])
    return number


def known_spark() -> SparkVersion:
    """What is known of it. Raises RunError as `installed_spark` does."""
    return SPARK_VERSIONS[installed_spark()]


def check_same_spark(spark: SparkSession) -> None:
    """Raises RunError if the Spark of a session is of another version than the installed PySpark."""
    if read_number(spark.version) != installed_spark():
        reason = f"the PySpark of this Python is {pyspark.__version__}"
        hint = f"pip install pyspark=={spark.version}, or unset SPARK_HOME"
        raise RunError([R008.at(None, version=spark.version, reason=reason).with_hint(hint)])


def _how_to_get() -> str:
    first, (major, minor) = min(SPARK_VERSIONS), max(SPARK_VERSIONS)
    return f"pip install 'pyspark>={number_text(first)},<{major}.{minor + 1}'"
