"""Rows -> buckets as Spark would send them, micro-batch by micro-batch -> what a BucketView makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa

from penstock.codegen.program import BucketView
from penstock.codegen.sql.frame_calls import Panes, lower_frame
from penstock.codegen.sql.over_rows import over_rows_views
from penstock.evaluator.expression_values import evaluate_scalar
from penstock.evaluator.row_frames import partition_of
from penstock.evaluator.typed_values import EPOCH, Row, columns, milliseconds
from penstock.kit.worker.bucket_rows import answer_rows
from penstock.kit.worker.pack import pack_rows, unpack_tables
from penstock.planner.plan import OverRows
from tests.properties.panes import arrow_type, plain, zoned

CONNECTIONS: list[Any] = []
"""DuckDB, as a worker of Spark keeps it from task to task: it is slow to start."""


@dataclass
class State:
    """What Spark keeps of a bucket, and what it tells of the time."""

    watermark: int = 0
    exists: bool = False
    get: tuple[bytes, ...] = ()
    timeout: int | None = field(default=None)

    def getCurrentWatermarkMs(self) -> int:
        return self.watermark

    def update(self, value: tuple[bytes, ...]) -> None:
        self.exists, self.get, self.timeout = True, value, None

    def setTimeoutTimestamp(self, timeout: int) -> None:
        assert timeout > 0
        assert timeout >= self.watermark
        self.timeout = timeout


class Remembering:
    """A node being run over two buckets."""

    def __init__(self, node: OverRows) -> None:
        self.node = node
        self.panes = Panes(node.input, node.time)
        self.values = {each.aggregate.name: lower_frame(each, self.panes) for each in node.aggregates}
        _, _, view, _ = over_rows_views(node, "over", "input", 2)
        assert isinstance(view, BucketView)
        self.view = view
        types = columns(node.input.schema)
        # What is held for the order comes behind what the functions hold.
        named = [pa.field(name, arrow_type(value, types)) for name, value in self.panes.held.items()]
        self.schema = pa.schema(
            [("bucket", pa.int32()), ("time", pa.timestamp("us", tz="UTC")), ("row", pa.struct(named))]
        )
        self.states = [State(), State()]

    def step(self, rows: list[Row], watermark: datetime) -> list[Row]:
        """The node's rows that a micro-batch sends."""
        now = (watermark - EPOCH) // milliseconds(1)
        sent = list(pack_rows(iter([self.batch(rows)]), 0, ())) if rows else []
        result: list[Row] = []
        for bucket, state in enumerate(self.states):
            state.watermark = now
            arrived = [
                t
                for batch in sent
                for each, t in zip(batch["bucket"].to_pylist(), batch["rows"].to_pylist(), strict=True)
                if each == bucket
            ]
            if arrived or (state.timeout is not None and state.timeout < now):
                result += self.answered(arrived, state)
        return result

    def batch(self, rows: list[Row]) -> pa.RecordBatch:
        types = columns(self.node.input.schema)
        records = [
            {
                "bucket": hash(partition_of(self.node, row)) % 2,
                "time": zoned(row[self.node.time]),
                "row": {name: zoned(evaluate_scalar(value, row, types)) for name, value in self.panes.held.items()},
            }
            for row in rows
        ]
        return pa.RecordBatch.from_pylist(records, self.schema)

    def answered(self, arrived: list[bytes], state: State) -> Iterator[Row]:
        view = self.view
        answer = {"sql": view.sql, "given": view.given, "kept": view.kept, "picked": dict(view.picked)}
        facts: dict[str, Any] = {"order": view.order, "time": view.time, "back": view.back, "only": None, **answer}
        tables = list(answer_rows(arrived, state, CONNECTIONS, **facts))
        types = {name: type_ for name, (_, type_) in self.panes.answers.items()}
        for batch in unpack_tables(iter([pa.record_batch({"rows": pa.array(tables, pa.binary())})])):
            for answer in batch.to_pylist():
                found = {name: plain(value) for name, value in answer.items()}
                inputs = {each.name: found[f"c{i}"] for i, each in enumerate(self.node.input.schema)}
                yield inputs | {name: evaluate_scalar(value, found, types) for name, value in self.values.items()}
