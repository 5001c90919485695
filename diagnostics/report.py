"""Diagnostic -> one JSON object for editors and CI; lines and columns are 1-based and count characters."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from typing import TypedDict

from penstock.diagnostics.diagnostic import Diagnostic, Severity
from penstock.diagnostics.source import Span

# A string, quoted name or comment, in which a semicolon ends no statement, or a semicolon that ends one.
_PIECE = re.compile(r"'(?:[^']++|'')*+'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*.*?(?:\*/|\Z)|(?P<end>;)", re.DOTALL)


class Report(TypedDict):
    """The object that `--format json` prints. All fields of the place are null when no text caused the finding."""

    code: str
    severity: Severity
    message: str
    file: str | None
    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None
    hint: str | None
    statement: int | None


def report(diagnostic: Diagnostic) -> Report:
    """Converts a finding. Its place is the place of the first label, end exclusive. `statement` counts from 1."""
    span = diagnostic.labels[0].span if diagnostic.labels else None
    start = span.source.position(span.start) if span else (None, None)
    end = span.source.position(span.end) if span else (None, None)
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "file": span.source.name if span else None,
        "line": start[0],
        "column": start[1],
        "end_line": end[0],
        "end_column": end[1],
        "hint": diagnostic.hint or diagnostic.fix,
        "statement": _statement_number(span) if span else None,
    }


def _statement_number(span: Span) -> int:
    """The number of the statement. Counting semicolons works for text that cannot be parsed, too."""
    return 1 + bisect_left(_list_ends(span.source.text), span.start)


@lru_cache(maxsize=8)
def _list_ends(text: str) -> list[int]:
    """The places of the semicolons that end statements. A script may have thousands of findings."""
    return [piece.start("end") for piece in _PIECE.finditer(text) if piece["end"] is not None]
