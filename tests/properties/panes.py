"""Rows -> panes as Spark would gather them -> what a PaneView makes of them, all in this process."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from sqlglot import exp

from penstock.codegen import answer_panes
from penstock.codegen.program import PaneView
from penstock.codegen.sql.frames import Panes, framed_value
from penstock.codegen.sql.over import over_views
from penstock.planner import types as t
from penstock.planner.plan import Over
from penstock.planner.plan.over import ORDERED
from tests.model.over import order_of, partition_of
from tests.model.scalars import evaluate_scalar, spark_type
from tests.model.values import EPOCH, Row, Types, Value, columns, milliseconds

_ARROW: dict[t.Type, pa.DataType] = {
    t.BIGINT: pa.int64(),
    t.INT: pa.int32(),
    t.STRING: pa.string(),
    t.BOOLEAN: pa.bool_(),
    t.DOUBLE: pa.float64(),
    t.TIMESTAMP: pa.timestamp("us", tz="UTC"),
}


def answered(node: Over, rows: list[Row], order: list[int], batch_size: int) -> list[Row]:
    """The node's rows; `order` is that of arrival, `batch_size` how many panes are answered at a time."""
    panes = Panes(node.input.schema, node.time)
    values = {each.aggregate.name: framed_value(each, panes) for each in node.aggregates}
    _, view, _ = over_views(node, "over", "input")
    assert isinstance(view, PaneView)
    types = columns(node.input.schema)
    answers: list[dict[str, Any]] = []
    for batch in answer_panes(
        iter(batches(node, panes, [rows[place] for place in order], batch_size)),
        view.sql,
        view.given,
        view.kept,
        dict(view.picked),
    ):
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


def batches(node: Over, panes: Panes, rows: list[Row], size: int) -> list[pa.RecordBatch]:
    """What Spark's window aggregation sends, `size` panes at a time."""
    types = columns(node.input.schema)
    gathered: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        for begin in begins(node, row[node.time]):
            gathered.setdefault((begin, partition_of(node, row)), []).append(row)
    is_ordered = any(each.aggregate.function in ORDERED for each in node.aggregates)
    held = pa.struct([(name, arrow_type(value, types)) for name, value in panes.held.items()])
    records = [
        {
            "begin": begin.replace(tzinfo=UTC),
            "pane": [
                {name: zoned(evaluate_scalar(value, row, types)) for name, value in panes.held.items()}
                for row in (sorted(members, key=lambda row: order_of(node, row)) if is_ordered else members)
            ],
        }
        for (begin, _), members in gathered.items()
    ]
    schema = pa.schema([("begin", _ARROW[t.TIMESTAMP]), ("pane", pa.list_(held))])
    groups = [records[start : start + size] for start in range(0, len(records), size)]
    return [pa.RecordBatch.from_pylist(group, schema) for group in groups]


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
        case exp.Case():
            return arrow_type(value.args["ifs"][0].args["true"], types)
        case _:
            type_ = t.BOOLEAN
    return pa.decimal128(type_.precision, type_.scale) if isinstance(type_, t.Decimal) else _ARROW[type_]
