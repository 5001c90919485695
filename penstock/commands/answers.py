"""Rows of a read -> text for people, JSON lines or CSV for programs."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.diagnostics import show_json
from penstock.diagnostics.terminal import exact
from penstock.runtime import show_rows
from penstock.values import to_csv, to_json


def show_answer(columns: Sequence[str], rows: Sequence[Mapping[str, Any]], form: str) -> None:
    """Prints the rows to standard output. `form`: `text`, `json` or `csv`."""
    match form:
        case "json":
            for row in rows:
                print(show_json(json.dumps({name: to_json(row[name]) for name in columns}, ensure_ascii=False)))
        case "csv":
            output = exact(sys.stdout)
            output.write(_csv_line(columns))
            output.writelines(_csv_line([to_csv(row[name]) for name in columns]) for row in rows)
        case _:
            show_rows("1 row" if len(rows) == 1 else f"{len(rows):,} rows", rows, len(rows))


def _csv_line(values: Sequence[Any]) -> str:
    """A record. Where lines end in LF alone, Python's writer leaves CR without quotes, and its reader splits there."""
    line = io.StringIO(newline="")
    csv.writer(line).writerow(values)
    return line.getvalue().removesuffix("\r\n") + "\n"
