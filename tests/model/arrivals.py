"""Histories as tests hand them to Spark: files of JSON lines, and rows one by one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from penstock.evaluator.history import History
from penstock.evaluator.typed_values import EPOCH, Row, Value


def write_json_lines(history: History, folder: Path, first_modified: datetime | None = None) -> dict[str, Path]:
    """The history as files `<folder>/<input>/<micro-batch>.json`; returns each input's folder.

    Modification times rise by a second from one micro-batch to the next, so that a file source that takes one file at a
    time meets the same micro-batches; an input without rows in one gets an empty file. They begin at `first_modified`,
    by default a day after the newest time of any row, so that no row lies in the files' future.
    """
    times = [value for rows in history.tables().values() for row in rows for value in row.values()]
    newest = max((value for value in times if isinstance(value, datetime)), default=EPOCH)
    first = first_modified or newest + timedelta(days=1)
    folders: dict[str, Path] = {}
    for number, batch in enumerate(history.batches):
        seconds = (first - EPOCH).total_seconds() + number
        for name, rows in batch.items():
            folders[name] = folder / name
            folders[name].mkdir(parents=True, exist_ok=True)
            path = folders[name] / f"{number:05}.json"
            path.write_text("".join(json_line(row) + "\n" for row in rows), encoding="utf-8")
            os.utime(path, (seconds, seconds))
    return folders


def json_line(row: Row) -> str:
    """A row as one JSON object. Decimals keep their digits, times are UTC with a Z."""
    return _json(row)


def _json(value: Value) -> str:
    match value:
        case Decimal():
            return f"{value:f}"
        case datetime():
            return json.dumps(value.isoformat(timespec="microseconds") + "Z")
        case date():
            return json.dumps(value.isoformat())
        case dict():
            return "{" + ", ".join(f"{json.dumps(name)}: {_json(each)}" for name, each in value.items()) + "}"
        case list():
            return "[" + ", ".join(_json(each) for each in value) + "]"
        case _:
            return json.dumps(value)


def one_row_batches(arrivals: Iterable[tuple[str, Row]], inputs: Iterable[str]) -> History:
    """A history in which every row is a micro-batch of its own."""
    names = list(inputs)
    return History(tuple({each: [row] if each == name else [] for each in names} for name, row in arrivals))
