"""The folders of a query -> how Spark writes its checkpoint, and the log of a files sink."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import SparkSession

from penstock.codegen.program import DISK_FILES, FILES_SETTING
from penstock.runtime.checkpoint.storage import Storage


def choose_file_manager(spark: SparkSession, storage: Storage, folders: Iterable[str | None]) -> None:
    """Tells the session, unless its user has chosen another way. Spark looks when a query starts."""
    if spark.conf.get(FILES_SETTING, DISK_FILES) != DISK_FILES:
        return
    if all(storage.is_on_disk(storage.qualify(each)) for each in folders if each is not None):
        spark.conf.set(FILES_SETTING, DISK_FILES)
    else:
        spark.conf.unset(FILES_SETTING)
