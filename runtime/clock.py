"""A checkpoint -> the watermark in force and the micro-batch's number: a one-row Python data source.

Spark has no expression for either. Before a micro-batch runs, Spark writes the watermark that will be in force to the
newest file of `<checkpoint>/offsets/`, named after the micro-batch; the same file is found when that is replayed, so
rows are late or not for good. This module travels by value to the workers of a cluster, which have pyspark but not
penstock.
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


def moment(offsets: str) -> tuple[datetime, int]:
    """The watermark and the micro-batch of the newest offset file of a folder; 1970-01-01 and 0 if it has none."""
    number, text = _newest_remote(offsets) if "://" in offsets else _newest_local(offsets.removeprefix("file:"))
    milliseconds = json.loads(text.splitlines()[1])["batchWatermarkMs"] if text else 0
    return datetime.fromtimestamp(milliseconds / 1000, UTC), number


def _newest_local(folder: str) -> tuple[int, str]:
    batches = [int(name) for name in os.listdir(folder) if name.isdigit()] if os.path.isdir(folder) else []
    if not batches:
        return 0, ""
    with open(os.path.join(folder, str(max(batches))), encoding="utf-8") as file:
        return max(batches), file.read()


def _newest_remote(folder: str) -> tuple[int, str]:
    from pyarrow import fs

    files, path = fs.FileSystem.from_uri(folder.replace("s3a://", "s3://", 1))
    found = files.get_file_info(fs.FileSelector(path, allow_not_found=True))
    batches = [int(info.base_name) for info in found if info.base_name.isdigit()]
    if not batches:
        return 0, ""
    with files.open_input_stream(f"{path}/{max(batches)}") as stream:
        return max(batches), bytes(stream.read()).decode()


class ClockReader(DataSourceReader):
    """Yields the one row (watermark, batch)."""

    def __init__(self, offsets: str) -> None:
        self._offsets = offsets

    def read(self, partition: InputPartition) -> Iterator[tuple[datetime, int]]:
        yield moment(self._offsets)


class Clock(DataSource):
    """The format `penstock_clock`; its option `offsets` is the folder to read."""

    @classmethod
    def name(cls) -> str:
        return "penstock_clock"

    def schema(self) -> str:
        return "watermark timestamp, batch bigint"

    def reader(self, schema: StructType) -> ClockReader:
        return ClockReader(self.options["offsets"])


def clock(spark: SparkSession, checkpoint: str) -> DataFrame:
    """One row, whose `watermark` is that of the micro-batch in which it is read, and `batch` the number of this."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
    spark.dataSource.register(Clock)
    return spark.read.format(Clock.name()).option("offsets", f"{checkpoint}/offsets").load()
