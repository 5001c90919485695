"""Rows of a read -> text for people, JSON lines or CSV for programs."""

from __future__ import annotations

import base64
import csv
import json
import math
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from penstock.runtime import show_rows


def show_answer(columns: Sequence[str], rows: Sequence[Mapping[str, Any]], form: str) -> None:
    """Prints the rows to standard output. `form`: `text`, `json` or `csv`."""
    match form:
        case "json":
            for row in rows:
                print(json.dumps({name: to_json(row[name]) for name in columns}, ensure_ascii=False))
        case "csv":
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows([to_csv(row[name]) for name in columns] for row in rows)
        case _:
            show_rows("1 row" if len(rows) == 1 else f"{len(rows):,} rows", rows, len(rows))


def to_json(value: Any) -> Any:
    """The value as JSON has it. DECIMAL is text, so that no digit is lost; times are as in files."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value).replace("nan", "NaN").replace("inf", "Infinity")
        case datetime():
            return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        case bytes():
            return base64.b64encode(value).decode()
        case Mapping():
            return {str(to_json(key)): to_json(each) for key, each in value.items()}
        case list() | tuple():
            return [to_json(each) for each in value]
        case _:
            return str(value)


def to_csv(value: Any) -> Any:
    """The value as CSV has it: NULL is empty, what has parts is JSON."""
    simple = to_json(value)
    if isinstance(simple, bool | dict | list):
        return json.dumps(simple, ensure_ascii=False)
    return simple
