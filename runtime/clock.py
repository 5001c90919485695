"""A checkpoint -> the watermark in force: a one-row Python data source that is read anew in every micro-batch.

Spark has no expression for the watermark. Before a micro-batch runs, Spark writes the watermark that will be in force
to the newest file of `<checkpoint>/offsets/`; the same file is found when the batch is replayed, so rows are late or
not for good. This module travels by value to the workers of a cluster, which have pyspark but not penstock.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime

from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType


def watermark(offsets: str) -> datetime:
    """The watermark in the newest offset file of a folder, 1970-01-01 if it has none."""
    text = _newest_remote(offsets) if "://" in offsets else _newest_local(offsets.removeprefix("file:"))
    milliseconds = json.loads(text.splitlines()[1])["batchWatermarkMs"] if text else 0
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def _newest_local(folder: str) -> str:
    batches = [int(name) for name in os.listdir(folder) if name.isdigit()] if os.path.isdir(folder) else []
    if not batches:
        return ""
    with open(os.path.join(folder, str(max(batches))), encoding="utf-8") as file:
        return file.read()


def _newest_remote(folder: str) -> str:
    from pyarrow import fs

    files, path = fs.FileSystem.from_uri(folder.replace("s3a://", "s3://", 1))
    found = files.get_file_info(fs.FileSelector(path, allow_not_found=True))
    batches = [int(info.base_name) for info in found if info.base_name.isdigit()]
    if not batches:
        return ""
    with files.open_input_stream(f"{path}/{max(batches)}") as stream:
        return bytes(stream.read()).decode()


class ClockReader(DataSourceReader):
    """Yields the one row (watermark,)."""

    def __init__(self, offsets: str) -> None:
        self._offsets = offsets

    def read(self, partition: InputPartition) -> Iterator[tuple[datetime]]:
        yield (watermark(self._offsets),)


class Clock(DataSource):
    """The format `penstock_clock`; its option `offsets` is the folder to read."""

    @classmethod
    def name(cls) -> str:
        return "penstock_clock"

    def schema(self) -> str:
        return "watermark timestamp"

    def reader(self, schema: StructType) -> ClockReader:
        return ClockReader(self.options["offsets"])


def clock(spark: SparkSession, checkpoint: str) -> DataFrame:
    """One row, whose column `watermark` is that of the micro-batch in which it is read."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
    spark.dataSource.register(Clock)
    return spark.read.format(Clock.name()).option("offsets", f"{checkpoint}/offsets").load()
