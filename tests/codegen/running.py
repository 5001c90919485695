"""Runs a lowered query on Spark, micro-batch by micro-batch, without the runtime."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.codegen import lower
from penstock.codegen.program import Input, SparkQuery, View
from penstock.codegen.sql.metadata_items import make_metadata_items, read_origin
from penstock.planner.plan import RunningQuery, Settings
from penstock.runtime.query.worker_frames import compute_frame
from tests.codegen.clock import Clock

Row = tuple[Any, ...]
_NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def at(minutes: float) -> str:
    """A time, in minutes after noon of the test's day, as the files have it."""
    return (_NOON + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def minutes(value: datetime | None) -> float | None:
    """The same back from a result. Spark's Python rows are in local time without a zone: the tests run in UTC."""
    return None if value is None else (value.replace(tzinfo=UTC) - _NOON) / timedelta(minutes=1)


def collected(rows: DataFrame) -> list[Row]:
    """Rows as tuples, with times in minutes."""
    return [tuple(minutes(x) if isinstance(x, datetime) else x for x in row) for row in rows.collect()]


class Running:
    """One query over folders of JSON files. Every push is one micro-batch, and a restart from the checkpoint."""

    def __init__(self, spark: SparkSession, query: RunningQuery, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        self.query: SparkQuery = lower([query], Settings(state_partitions=2)).queries[0]
        self.rows: list[Row] = []
        self.counts: Counter[str] = Counter()
        self.dropped = 0
        self.kept = 0
        self._pushed = 0
        for source in self.query.inputs:
            self._path(source).mkdir(parents=True, exist_ok=True)
        (folder / "checkpoint" / "end").mkdir(parents=True)

    def push(self, **records: list[Any]) -> list[Row]:
        """Files of records for some inputs, by name; a record is a dict, or text to be taken as it is."""
        self._pushed += 1
        for name, lines in records.items():
            source = next(each for each in self.query.inputs if each.name == name)
            text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
            self._publish(text, self._path(source) / f"{self._pushed:05d}.json")
        return self.run()

    def drain(self) -> list[Row]:
        """The end of all input."""
        self._publish('{"time": "9999-01-01T00:00:00Z"}', self.folder / "checkpoint" / "end" / "end.json")
        return self.run()

    def run(self) -> list[Row]:
        """What comes out of all that is there now."""
        seen = len(self.rows)
        writer = self._result().writeStream.outputMode(self.query.mode).foreachBatch(self._collect)
        writer = writer.option("checkpointLocation", str(self.folder / "checkpoint")).trigger(availableNow=True)
        started = writer.start()
        started.awaitTermination()
        for progress in started.recentProgress:
            for observed in dict(progress.observedMetrics).values():
                counts = observed.asDict()
                self.counts.update({name: count for name, count in counts.items() if ":" in name})
            self.dropped += sum(operator.numRowsDroppedByWatermark for operator in progress.stateOperators)
            self.kept = sum(operator.numRowsTotal for operator in progress.stateOperators)
        return self.rows[seen:]

    def rejected(self, name: str) -> list[Row]:
        """The rows of an input that were set aside, without the file."""
        rejects = next(each for each in self.query.rejects if each.name == name)
        self._source(rejects.input, streaming=False)
        for view in rejects.views:
            self.spark.sql(view.sql).createOrReplaceTempView(view.name)
        return sorted(tuple(row)[:2] for row in self.spark.table(rejects.view).collect())

    def _result(self) -> DataFrame:
        name, checkpoint = self.query.name, self.folder / "checkpoint"
        for source in self.query.inputs:
            self._source(source)
        if self.query.timed or self.query.numbered:
            self.spark.dataSource.register(Clock)
            clock = self.spark.read.format(Clock.name()).option("offsets", str(checkpoint / "offsets")).load()
            clock.createOrReplaceTempView(f"{name}_clock")
        if self.query.timed:
            end = self.spark.readStream.schema("time timestamp, input string").json(str(checkpoint / "end"))
            end.createOrReplaceTempView(f"{name}_end")
        for view in self.query.views:
            if not isinstance(view, View):
                compute_frame(self.spark, view).createOrReplaceTempView(view.name)
                continue
            rows = self.spark.sql(view.sql)
            if view.watermark is not None:
                rows = rows.withWatermark(view.watermark.column, f"{view.watermark.delay} milliseconds")
            if view.metrics:
                rows = rows.observe(view.name, *(F.expr(each.sql).alias(each.name) for each in view.metrics))
            rows.createOrReplaceTempView(view.name)
        return self.spark.table(self.query.result)

    def _source(self, source: Input, *, streaming: bool = True) -> None:
        columns = (*source.columns, ("_malformed", "STRING"))
        schema = ", ".join(f"`{name.replace('`', '``')}` {type_}" for name, type_ in columns)
        reader: Any = self.spark.readStream if streaming else self.spark.read
        rows = reader.schema(schema).option("columnNameOfCorruptRecord", "_malformed").json(str(self._path(source)))
        origin = ["_metadata.file_path AS _file", "_metadata.file_modification_time AS _arrived"]
        origin += ["CAST(NULL AS STRING) AS _why"] if source.explained else []
        rows = rows.selectExpr("*", *origin, *read_origin(source.metadata))
        rows.selectExpr("*", *make_metadata_items(source.metadata)).createOrReplaceTempView(source.view)

    def _path(self, source: Input) -> Path:
        return self.folder / source.name

    def _publish(self, text: str, path: Path) -> None:
        unfinished = self.folder / "unfinished"
        unfinished.write_text(text, encoding="utf-8")
        unfinished.rename(path)

    def _collect(self, batch: DataFrame, _: int) -> None:
        self.rows += sorted(collected(batch), key=repr)
