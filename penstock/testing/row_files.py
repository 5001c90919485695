"""Files of rows beside a test: CSV with a header, and JSON with an object in each line."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.testing import T107
from penstock.parser.ast import Name, RowFile, Text

FORMS = (".csv", ".json", ".jsonl")


def read_rows(file: RowFile, folder: Path) -> list[dict[str, Any]]:
    """The rows of a file, as texts or as values of JSON. Raises CompileError."""
    suffix = Path(file.path.text).suffix.lower()
    if suffix not in FORMS:
        raise unreadable(file, f"its name ends in none of {', '.join(FORMS)}")
    text = read_beside(file.path, folder)
    return read_csv(file, text) if suffix == ".csv" else read_json_lines(file, text)


def read_beside(name: Text, folder: Path) -> str:
    """The text of a file that a test names. Raises CompileError."""
    try:
        return (folder / name.text).read_text(encoding="utf-8-sig")
    except OSError as problem:
        reason = (problem.strerror or "failed").lower()
    except UnicodeDecodeError as problem:
        reason = f"byte {problem.start} is not UTF-8"
    raise CompileError([T107.at(name.span, path=name.text, reason=reason)])


def read_csv(file: RowFile, text: str) -> list[dict[str, Any]]:
    """An empty field is NULL."""
    try:
        records = [record for record in csv.reader(io.StringIO(text), strict=True) if record]
    except csv.Error as problem:
        raise unreadable(file, str(problem)) from None
    if not records:
        raise unreadable(file, "it has no header")
    header, *rows = records
    check_names(header, file, "the header")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise unreadable(file, f"row {number} has {len(row)} fields, and the header has {len(header)}")
    return [{name: field or None for name, field in zip(header, row, strict=True)} for row in rows]


def read_json_lines(file: RowFile, text: str) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                row = json.loads(line, parse_float=Decimal)
            except ValueError:
                raise unreadable(file, f"line {number} is not JSON") from None
            if not isinstance(row, dict):
                raise unreadable(file, f"line {number} is not an object")
            rows.append(row)
    return rows


def list_names(rows: list[dict[str, Any]], file: RowFile) -> tuple[Name, ...]:
    """The columns that a file names, each once in whichever letters."""
    spelled = {name.lower(): name for row in rows for name in row}
    return tuple(Name(name, file.path.span) for name in spelled.values())


def match_names(rows: list[dict[str, Any]], known: Iterable[str], file: RowFile) -> list[dict[str, Any]]:
    """The rows with the columns' names, as sources match them: in the same letters first. Raises CompileError."""
    columns = {name.lower(): name for name in known}
    matched: list[dict[str, Any]] = []
    for row in rows:
        exact = {name: value for name, value in row.items() if columns.get(name.lower()) == name}
        others = [name for name in row if name not in exact and columns.get(name.lower()) not in exact]
        check_names(others, file, "a row")
        matched.append(exact | {columns.get(name.lower(), name): row[name] for name in others})
    return matched


def check_names(names: Iterable[str], file: RowFile, place: str) -> None:
    """Raises CompileError for two names that are the same column."""
    for name, number in Counter(name.lower() for name in names).items():
        if number > 1:
            raise unreadable(file, f"{place} has {number} fields {name}")


def unreadable(file: RowFile, reason: str) -> CompileError:
    return CompileError([T107.at(file.path.span, path=file.path.text, reason=reason)])
