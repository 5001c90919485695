"""Files of rows beside a test: CSV with a header, and JSON with an object in each line."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.testing import T107
from penstock.parser.ast import Name, RowFile, Text

FORMS = (".csv", ".json", ".jsonl")
FIELD = re.compile(r'(?:"((?:[^"]|"")*)"|((?!")[^,\r\n]*))(,|\r\n|\n|\r|\Z)')
"""A field of CSV, in quotes or not, and what ends it."""


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
    """By RFC 4180. An empty field is NULL, and one in quotes is an empty text."""
    records = list(split_csv(file, text))
    if not records:
        raise unreadable(file, "it has no header")
    header, *rows = ([field or "" for field in records[0]], *records[1:])
    check_names(header, file, "the header")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise unreadable(file, f"row {number} has {len(row)} fields, and the header has {len(header)}")
    return [dict(zip(header, row, strict=True)) for row in rows]


def split_csv(file: RowFile, text: str) -> Iterator[list[str | None]]:
    """The fields of each record. Lines without a character are none. Raises CompileError."""
    record: list[str | None] = []
    place = 0
    while place < len(text) or record:
        found = FIELD.match(text, place)
        if found is None:
            line = text.count("\n", 0, place) + 1
            raise unreadable(file, f"a field of line {line} is not closed, or goes on behind its quotes")
        quoted, plain, end = found.groups()
        record.append(quoted.replace('""', '"') if quoted is not None else plain or None)
        place = found.end()
        if end != ",":
            if record != [None]:
                yield record
            record = []


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
