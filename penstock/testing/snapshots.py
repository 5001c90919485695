"""What came -> the same file of tests, in which it is expected."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from penstock.diagnostics import Source
from penstock.parser import name_text
from penstock.parser.ast import RowFile, ThenChanges
from penstock.testing.expectations import SIGN, Seen
from penstock.testing.row_text import row_texts
from penstock.testing.run_case import CaseResult


def rewrite(source: Source, results: Iterable[CaseResult]) -> str:
    """The text of the file with the rows that came in the place of the ones that were expected.

    Rows from files, and all that is not about rows, stay as they are.
    """
    pieces: list[tuple[int, int, str]] = []
    for result in results:
        for seen in result.seen:
            if seen.differs:
                pieces += rewrite_rows(seen, result.start)
    text = source.text
    for first, end, piece in sorted(pieces, reverse=True):
        text = text[:first] + piece + text[end:]
    return text


def rewrite_rows(seen: Seen, start: datetime) -> list[tuple[int, int, str]]:
    """The characters to replace, and what is put there."""
    then = seen.then
    if isinstance(then, ThenChanges):
        return [(then.listed.start, then.listed.end, changes_text(seen, start))]
    if isinstance(then.rows, RowFile):
        return []
    text = values_text(seen, start)
    if not then.columns and seen.actual and not then.rows.rows:
        text = f"({', '.join(name_text(each.name) for each in seen.chosen)}) {text}"
    return [(then.rows.span.start, then.rows.span.end, text)]


def values_text(seen: Seen, start: datetime) -> str:
    if not seen.actual:
        return "NOTHING"
    return "VALUES " + ", ".join(f"({', '.join(row_texts(row, seen.chosen, start))})" for row in seen.actual)


def changes_text(seen: Seen, start: datetime) -> str:
    chosen = seen.chosen[1:]
    rows = (f"{row[SIGN.name]} ({', '.join(row_texts(row, chosen, start))})" for row in seen.actual)
    return ", ".join(rows) or "NOTHING"
