"""Hints of findings -> the script with them, and what is wrong with a hint that does not help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from penstock.compilation import compile
from penstock.diagnostics import CompileError, Diagnostic, Source, Span
from penstock.parser import parse


def find_errors(sql: str) -> Sequence[Diagnostic]:
    """The findings about a script, warnings included."""
    try:
        return compile(sql).diagnostics
    except CompileError as refusal:
        return refusal.diagnostics


def paste(sql: str, text: str, span: Span) -> str:
    """The script with a text in the place of a part, with blanks where words would grow together."""
    before, after = sql[: span.start], sql[span.end :]
    left = " " if before[-1:].isalnum() and text[:1].isalnum() else ""
    right = " " if text[-1:].isalnum() and (after[:1].isalnum() or after[:1] == "_") else ""
    return f"{before}{left}{text}{right}{after}"


def paste_fix(sql: str, finding: Diagnostic) -> str:
    """The script with the statement that the finding is in replaced by what it proposes."""
    assert finding.fix is not None
    place = finding.labels[0].span.start
    whole = next(each.span for each in parse(Source("<sql>", sql)) if each.span.start <= place < each.span.end)
    return f"{sql[: whole.start]}{finding.fix}{sql[whole.end :]}"


def judge(sql: str, finding: Diagnostic) -> str | None:
    """What is wrong with the hint of a finding about a script; None if nothing is."""
    if not finding.labels or finding.labels[0].span.source.text != sql:
        return None
    if finding.paste is not None and finding.paste.span.source.text == sql:
        pasted = paste(sql, finding.paste.sql, finding.paste.span)
        if not _helps(sql, pasted, finding):
            return f"{finding.code}: the SQL of the hint does not help: {finding.hint}"
    elif finding.hint is not None and "…" not in finding.hint:
        pasted = paste(sql, finding.hint, finding.labels[0].span)
        errors = [each for each in find_errors(pasted) if each.severity == "error"]
        if pasted != sql and not errors:
            return f"{finding.code}: the hint is SQL, and does not say so: {finding.hint}"
    if finding.fix is not None and not _helps(sql, paste_fix(sql, finding), finding):
        return f"{finding.code}: the fix does not help: {finding.fix}"
    return None


def _helps(sql: str, pasted: str, finding: Diagnostic) -> bool:
    """Whether the text with the hint has this problem less often, and no word of it is one that nobody knows."""
    before, after = (Counter(map(_tell, find_errors(text))) for text in (sql, pasted))
    broken = {code for code, *_ in after - before} & _BROKEN
    return after[_tell(finding)] < before[_tell(finding)] and not (broken and finding.code[0] != "S")


def _tell(finding: Diagnostic) -> tuple[str, str, str]:
    """What tells a problem from others: its code, its message and the text that it is about."""
    return finding.code, finding.message, finding.labels[0].span.text if finding.labels else ""


_BROKEN = {"S001", "S002", "S003", "S004", "S005", "S006", "S007"}
"""A hint that is not even SQL has one of these. Behind an error of syntax the next one of the text is found."""
