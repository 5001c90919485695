"""A stream of random rows that a seed decides. It reads nothing, so that a crash leaves nothing behind.

The checkpoint has the number of the next row and the time of the first one.
"""

from __future__ import annotations

from datetime import UTC, datetime

from pyspark.sql import DataFrame, SparkSession

from penstock.codegen.connectors.datagen import list_generated
from penstock.codegen.program import Input
from penstock.kit.datagen import MadeColumn, RowSchedule, read_datagen
from penstock.runtime.connectors.protocol import RuntimeConnector, RuntimeSource

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class DatagenSource(RuntimeSource):
    """`rows_per_second` rows a second, under the declared names."""

    def __init__(self, source: Input) -> None:
        self._source = source

    @property
    def packages(self) -> set[str]:
        return {"pyspark", "pyarrow", "pandas"}

    def stream(self, spark: SparkSession) -> DataFrame:
        source, values = self._source, self._source.values
        columns, count = list_generated(source)
        start = _read_microseconds(str(values["start_time"])) if "start_time" in values else None
        schedule = RowSchedule(source.number("rows_per_second"), count.rows, start, count.most)
        return read_datagen(spark, [MadeColumn(*each) for each in columns], schedule, source.number("seed"))


def _read_microseconds(text: str) -> int:
    """A time that the planner has accepted, in microseconds since 1970. Without a zone it is in UTC."""
    moment = datetime.fromisoformat(text)
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


CONNECTOR = RuntimeConnector(source=DatagenSource)
