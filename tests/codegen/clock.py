"""The watermark in force, from the newest file of a checkpoint's offsets. Spark's workers import this only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType


class ClockReader(DataSourceReader):
    def __init__(self, offsets: str) -> None:
        self.offsets = offsets

    def read(self, partition: InputPartition) -> Iterator[tuple[tuple[datetime, datetime, int]]]:
        batches = [int(path.name) for path in Path(self.offsets).glob("*") if path.name.isdigit()]
        lines = Path(self.offsets, str(max(batches))).read_text().splitlines()
        watermark = datetime.fromtimestamp(json.loads(lines[1])["batchWatermarkMs"] / 1000, UTC)
        held_back = timedelta(milliseconds=1 if watermark.timestamp() > 0 else 0)
        yield ((watermark, watermark + held_back, max(batches)),)


class Clock(DataSource):
    @classmethod
    def name(cls) -> str:
        return "test_clock"

    def schema(self) -> str:
        return "now struct<watermark: timestamp, row_watermark: timestamp, batch: bigint>"

    def reader(self, schema: StructType) -> ClockReader:
        return ClockReader(self.options["offsets"])
