"""Generated rows as a data source of Spark: numbers, and the times at which rows are made.

An offset says how many rows were made. All values of a row follow from its number, so that a micro-batch that runs
again has the same rows, wherever its borders are.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

FORMAT = "penstock_datagen"
"""What Spark calls the data source."""
OPTION = "rows"
NUMBER, MADE = "_number", "_made"
MOST = 1_000_000
"""At most so many rows in a micro-batch: a run that was stopped for a night does not make its rows in one."""
PART = 25_000
"""A task makes so many rows, or more if a micro-batch would have more than PARTS tasks."""
PARTS = 8
SECOND = 1_000_000  # microseconds
_HEX = 16  # digits of a hash


class MadeColumn(NamedTuple):
    """A column. `low` and `high` are the least and the greatest value, both included.

    `high` is infinite for a sequence without an end. Random decimals count units of their last digit, which is the
    `scale`-th behind the point. `nulls`: how many of a million values are NULL. `max_past`: how far a time may be
    before its row is made, in milliseconds.
    """

    name: str
    type: str
    is_sequence: bool
    low: int | float
    high: int | float
    scale: int
    length: int
    nulls: int
    max_past: int


@dataclass(frozen=True)
class RowSchedule:
    """When rows are made. `rate`: how many a second. `rows`: how many in all, None if there is no end.

    `start`: the time of the first row in microseconds since 1970, None if the time of the first read decides.
    `most`: no more rows are made without an end either, as sequences have no more numbers. None if they do not matter.
    """

    rate: int
    rows: int | None = None
    start: int | None = None
    most: int | None = None

    def write(self) -> str:
        """The schedule as an option of the data source."""
        return json.dumps(asdict(self))

    def span(self, rows: int) -> int:
        """The microseconds in which so many rows are made."""
        return rows * SECOND // self.rate


@dataclass
class NumberPart(InputPartition):
    """The rows from `begin` to before `end`. The first row of all is made at `first`."""

    begin: int
    end: int
    first: int


class RowNumbers(DataSource):
    """The data source."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def streamReader(self, schema: StructType) -> NumberReader:
        return NumberReader(RowSchedule(**json.loads(self.options[OPTION])))


class NumberReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Counts rows in the process that plans micro-batches, and makes them in workers.

    The stream has begun a second before it is first read. If it ends, the times of its rows end before that.
    """

    def __init__(self, schedule: RowSchedule) -> None:
        self._schedule = schedule
        self._is_once = False
        self._last: int | None = None

    def prepareForTriggerAvailableNow(self) -> None:
        self._is_once = True

    def initialOffset(self) -> dict[str, int]:
        began = time.time_ns() // 1000 - SECOND
        first = began - self._schedule.span(self._schedule.rows or 0)
        return {"began": began, "first": first if self._schedule.start is None else self._schedule.start, "row": 0}

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, int]:
        if not self._is_once or self._last is None:
            self._last = self._count_made(start["began"])
        row = max(start["row"], min(self._last, start["row"] + MOST))
        return {"began": start["began"], "first": start["first"], "row": row}

    def _count_made(self, began: int) -> int:
        """How many rows there are now. A run that does not go on takes all rows that there will be."""
        rows, most = self._schedule.rows, self._schedule.most
        if self._is_once and rows is not None:
            return rows
        # By whole seconds: a slow stream would have a micro-batch for each row.
        made = max(0, time.time_ns() // 1000 - began) // SECOND * self._schedule.rate
        return min([made, *(each for each in (rows, most) if each is not None)])

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[NumberPart]:
        begin, last = start["row"], end["row"]
        step = max(PART, -(-(last - begin) // PARTS))
        return [NumberPart(at, min(at + step, last), end["first"]) for at in range(begin, last, step)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, NumberPart)
        for begin in range(partition.begin, partition.end, PART):
            numbers = range(begin, min(begin + PART, partition.end))
            times = [partition.first + self._schedule.span(number) for number in numbers]
            made = pa.array(times, pa.int64()).cast(pa.timestamp("us", "UTC"))
            yield pa.RecordBatch.from_arrays([pa.array(numbers, pa.int64()), made], names=[NUMBER, MADE])


def read_datagen(spark: SparkSession, columns: Sequence[MadeColumn], schedule: RowSchedule, seed: int) -> DataFrame:
    """The rows as they are made."""
    spark.dataSource.register(RowNumbers)
    source = spark.readStream.format(FORMAT).schema(f"{NUMBER} BIGINT, {MADE} TIMESTAMP")
    rows = source.option(OPTION, schedule.write()).load()
    return rows.select(*(make_value(each, seed).alias(each.name) for each in columns))


def make_value(column: MadeColumn, seed: int) -> Column:
    """The value of a column, by the number of the row."""
    value = _count_value(column) if column.is_sequence else _draw_value(column, seed)
    value = value.cast(column.type)
    if not column.nulls:
        return value
    is_null = _draw_below(column, seed, 1_000_000, "null") < F.lit(column.nulls)
    return F.when(~is_null, value)


def _count_value(column: MadeColumn) -> Column:
    return F.lit(int(column.low)).cast("bigint") + F.col(NUMBER)


def _draw_value(column: MadeColumn, seed: int) -> Column:
    match column.type:
        case "BOOLEAN":
            return _draw_below(column, seed, 2) == F.lit(1)
        case "FLOAT" | "DOUBLE":
            part = _draw_below(column, seed, 2**53).cast("double") / F.lit(float(2**53))
            # Not low + part * (high - low), which may be infinite.
            return F.lit(float(column.low)) * (F.lit(1.0) - part) + F.lit(float(column.high)) * part
        case "STRING":
            places = F.sequence(F.lit(1), F.lit(-(-column.length // _HEX)))
            blocks = F.transform(places, lambda place: F.lpad(F.hex(_hash(column, seed, place)), _HEX, "0"))
            return F.lower(F.substring(F.array_join(blocks, ""), 1, column.length))
        case "TIMESTAMP" | "DATE":
            return F.timestamp_micros(
                F.unix_micros(F.col(MADE)) - _draw_below(column, seed, column.max_past * 1000 + 1)
            )
    low, high = int(column.low), int(column.high)
    # As decimals: the range of BIGINT has more numbers than a BIGINT can count.
    number = _draw_below(column, seed, high - low + 1, type_="decimal(20, 0)") + F.lit(str(low)).cast("decimal(20, 0)")
    if not column.type.startswith("DECIMAL"):
        return number
    return F.concat(number.cast("string"), F.lit(f"E-{column.scale}"))


def _draw_below(column: MadeColumn, seed: int, count: int, use: str = "value", type_: str = "bigint") -> Column:
    """A number from 0 to before `count`."""
    return F.pmod(_hash(column, seed, F.lit(use)).cast(type_), F.lit(str(count)).cast(type_))


def _hash(column: MadeColumn, seed: int, use: Column) -> Column:
    """A number that the seed, the row and the column decide. It is another one for each `use`."""
    return F.xxhash64(F.col(NUMBER), F.lit(seed), F.lit(column.name.lower()), use)
