"""Rows of a table -> JSON, CSV, or an Arrow stream."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pyarrow as pa

from penstock.arrow import make_table
from penstock.server.http.problems import Problem
from penstock.server.http.table_requests import TableRows
from penstock.values import to_csv, to_json

JSON = "application/json"
CSV = "text/csv; charset=utf-8; header=present"
ARROW = "application/vnd.apache.arrow.stream"


def write_json(found: TableRows) -> bytes:
    """An object with the columns, the rows as objects, and `next`: the `after` of the rows behind them.

    `count`, if it was asked for: all rows that the filters let pass.
    """
    names = [name for name, _ in found.shape.columns]
    answer: dict[str, Any] = {
        "table": found.shape.name,
        "key": list(found.shape.key),
        "columns": [{"name": name, "type": type_} for name, type_ in found.shape.columns],
        "rows": [dict(zip(names, map(to_json, row), strict=True)) for row in found.rows],
        "next": found.next,
    }
    if found.count is not None:
        answer["count"] = found.count
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def write_csv(found: TableRows) -> bytes:
    """RFC 4180 with a header. NULL is empty, what has parts is JSON."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([name for name, _ in found.shape.columns])
    writer.writerows([to_csv(value) for value in row] for row in found.rows)
    return text.getvalue().encode("utf-8", "replace")


def write_arrow(found: TableRows) -> bytes:
    """A stream of Arrow IPC with one batch.

    Raises:
        Problem: a value has no place in its Arrow type.
    """
    try:
        table = make_table(found.shape.columns, found.rows)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise Problem(422, "a value has no place in its Arrow type", detail=str(error), hint="format=json") from None
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
