"""Settings of Spark that users give -> a check that no result depends on them and that Spark does not ignore them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from penstock.diagnostics.codes.running import R048
from penstock.runtime.failure.errors import RunError

_SECRET = re.compile(r"(?i)secret|passw|token|credential|key")
# Most settings of Spark SQL can change results, or how state is kept. These are about speed and memory alone.
_FREE = (
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.broadcastTimeout",
    "spark.sql.execution.arrow.maxRecordsPerBatch",
    "spark.sql.files.maxPartitionBytes",
    "spark.sql.files.maxPartitionNum",
    "spark.sql.files.minPartitionNum",
    "spark.sql.files.openCostInBytes",
    "spark.sql.sources.parallelPartitionDiscovery.",
    "spark.sql.streaming.checkpointFileManagerClass",
    "spark.sql.streaming.maxBatchesToRetainInMemory",
    "spark.sql.streaming.pollingDelay",
    "spark.sql.streaming.stateStore.rocksdb.blockCacheSizeMB",
    "spark.sql.streaming.stateStore.rocksdb.blockSizeKB",
    "spark.sql.streaming.stateStore.rocksdb.boundedMemoryUsage",
    "spark.sql.streaming.stateStore.rocksdb.highPriorityPoolRatio",
    "spark.sql.streaming.stateStore.rocksdb.maxMemoryUsageMB",
    "spark.sql.streaming.stateStore.rocksdb.maxOpenFiles",
    "spark.sql.streaming.stateStore.rocksdb.maxWriteBufferNumber",
    "spark.sql.streaming.stateStore.rocksdb.writeBufferCacheRatio",
    "spark.sql.streaming.stateStore.rocksdb.writeBufferSizeMB",
    "spark.sql.ui.",
)
_ELSEWHERE = {
    "spark.api.mode": "Penstock runs in the mode classic",
    "spark.master": "the master is given by --master",
    "spark.pyspark.driver.python": "Penstock runs in a Python already",
    "spark.pyspark.python": "the Python of the workers is named by the environment variable PYSPARK_PYTHON",
    "spark.remote": "Penstock runs in the mode classic",
    "spark.sql.shuffle.partitions": "the number of partitions is given in the script, by SET state_partitions",
    "spark.submit.deployMode": "Penstock runs where it is started",
}


def check_settings(settings: Mapping[str, str]) -> None:
    """Refuses settings that Penstock needs as they are. Values are never told: they may be secret.

    Raises:
        RunError: with a finding for each.
    """
    findings = [R048.at(None, name=name, reason=told) for name in settings if (told := _objection(name)) is not None]
    if findings:
        raise RunError(findings)


def without_secrets(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings that may stand in the command line of a JVM, where all users of a machine can read them."""
    return {name: value for name, value in settings.items() if not _is_secret(name)}


def redact(text: str, settings: Mapping[str, str]) -> str:
    """The text without the values of settings that may be secret."""
    for name, value in settings.items():
        if value and _is_secret(name):
            text = text.replace(value, "***")
    return text


def is_left_to_users(name: str) -> bool:
    """Whether a setting of Spark SQL is about speed and memory alone."""
    return any(name == free or _is_below(name, free) for free in _FREE)


def _objection(name: str) -> str | None:
    if name in _ELSEWHERE:
        return _ELSEWHERE[name]
    if not name.startswith("spark."):
        return "settings of Spark begin with spark."
    if name.startswith("spark.sql.") and not is_left_to_users(name):
        return "results and state may depend on it, so Penstock sets it, or leaves it as it is"
    return None


def _is_below(name: str, prefix: str) -> bool:
    return prefix.endswith(".") and name.startswith(prefix)


def _is_secret(name: str) -> bool:
    return name.startswith("spark.hadoop.") or _SECRET.search(name) is not None
