"""Rows of a read -> text for people, JSON lines or CSV for programs."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.runtime import show_rows
from penstock.values import to_csv, to_json


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
