"""Rows -> tables -> panes as Spark would gather them -> what a PaneView makes of them, all in this process."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from sqlglot import exp

from penstock.codegen.program import PackedView, PaneView
from penstock.codegen.sql.frame_calls import Panes
from penstock.codegen.sql.over_panes import lower_frames, over_views
from penstock.evaluator.expression_values import evaluate_scalar, spark_type
from penstock.evaluator.row_frames import partition_of
from penstock.evaluator.typed_values import EPOCH, Row, Types, Value, columns, milliseconds
from penstock.kit.worker.pack import pack_rows
from penstock.kit.worker.panes import answer_panes
from penstock.planner import types as t
from penstock.planner.plan import Over

_ARROW: dict[t.Type, pa.DataType] = {
    t.BIGINT: pa.int64(),
    t.INT: pa.int32(),
    t.STRING: pa.string(),
    t.BOOLEAN: pa.bool_(),
    t.DOUBLE: pa.float64(),
    t.TIMESTAMP: pa.timestamp("us", tz="UTC"),
}


def answered(node: Over, rows: list[Row], order: list[int], batch_size: int) -> list[Row]:
    """The node's rows; `order` is that of arrival, `batch_size` how many rows are packed or answered at a time."""
    panes = Panes(node.input, node.time)
    framed, _ = lower_frames(node, panes)
    values = {each.aggregate.name: value for value, each in zip(framed, node.aggregates, strict=True)}
    _, tables, _, view, _ = over_views(node, "over", "input")
    assert isinstance(tables, PackedView)
    assert isinstance(view, PaneView)
    types = columns(node.input.schema)
    sent = gathered(node, panes, tables, [rows[place] for place in order], batch_size)
    asked = (view.order, view.sql, view.given, view.kept, dict(view.picked), batch_size)
    answers: list[dict[str, Any]] = []
    for batch in answer_panes(iter([sent]), *asked):
        answers += batch.to_pylist()
    result: list[Row] = []
    for answer in answers:
        found = {name: plain(value) for name, value in answer.items()}
        inputs = {each.name: found[name] for name, each in zip(panes.kept, node.input.schema, strict=True)}
        answer_types = {name: type_ for name, (_, type_) in panes.answers.items()}
        functions = {name: evaluate_scalar(value, found, answer_types) for name, value in values.items()}
        result.append(inputs | functions)
    assert list(types) == [each.name for each in node.input.schema]
    return result


def plain(value: Value) -> Value:
    """A value as the model has it."""
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def gathered(node: Over, panes: Panes, view: PackedView, rows: list[Row], size: int) -> pa.RecordBatch:
    """What Spark's window aggregation sends, of rows that come `size` at a time."""
    types = columns(node.input.schema)
    held = pa.struct([(name, arrow_type(value, types)) for name, value in panes.held.items()])
    schema = pa.schema([("bucket", pa.int32()), ("time", _ARROW[t.TIMESTAMP]), ("row", held)])
    records = [
        {
            "bucket": hash(partition_of(node, row)) % 2,
            "time": zoned(row[node.time]),
            "row": {name: zoned(evaluate_scalar(value, row, types)) for name, value in panes.held.items()},
        }
        for row in rows
    ]
    starts = range(0, len(records), size)
    batches = (pa.RecordBatch.from_pylist(records[start : start + size], schema) for start in starts)
    found: dict[tuple[datetime, int], list[bytes]] = {}
    for batch in pack_rows(batches, view.length, view.cuts, size):
        for table in batch.to_pylist():
            for begin in begins(node, plain(table["time"])):
                found.setdefault((begin, table["bucket"]), []).append(table["rows"])
    answers = [{"begin": zoned(begin), "bucket": bucket, "tables": all_} for (begin, bucket), all_ in found.items()]
    kept = [("begin", _ARROW[t.TIMESTAMP]), ("bucket", pa.int32()), ("tables", pa.list_(pa.binary()))]
    return pa.RecordBatch.from_pylist(answers, pa.schema(kept))


def begins(node: Over, time: datetime) -> list[datetime]:
    """Where the panes begin that have the time in reach."""
    length = milliseconds(node.pane)
    begin = EPOCH + (time - EPOCH) // length * length
    around = [begin + place * length for place in range(-3, 4)]
    back, end = milliseconds(node.back), milliseconds(node.pane + node.forward)
    return [each for each in around if each - back <= time < each + end]


def zoned(value: Value) -> Value:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value


def arrow_type(value: exp.Expression, types: Types) -> pa.DataType:
    """The type of what panes hold: a column, a cast, or one of these under a condition."""
    match value:
        case exp.Column():
            type_ = types[value.name]
        case exp.Cast():
            type_ = spark_type(value.args["to"])
        case exp.Add():
            return arrow_type(value.this, types)
        case exp.Case():
            return arrow_type(value.args["ifs"][0].args["true"], types)
        case _:
            type_ = t.BOOLEAN
    return pa.decimal128(type_.precision, type_.scale) if isinstance(type_, t.Decimal) else _ARROW[type_]
