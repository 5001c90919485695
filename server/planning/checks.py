"""Jobs of the doors: checks of a text while it is typed, and scripts that are cut into statements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from penstock.compilation import compile
from penstock.diagnostics import CompileError, Diagnostic, Report, Source, report
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.server import V014
from penstock.parser import LayoutError, ast, format_script, parse
from penstock.planner import Catalog
from penstock.server.planning.script_parts import ScriptPart, split_statements

Definition = tuple[str, int, str]
"""Name, version and statement of a relation."""


@dataclass(frozen=True, slots=True)
class Check:
    """What is wrong with a text, and what it is warned about. `max_words`: the most words of one of its statements."""

    text: str
    max_words: int


@dataclass(frozen=True, slots=True)
class Format:
    """A text in the canonical layout."""

    text: str


class Pasted(TypedDict):
    """SQL that mends a text, and the place of what it replaces. The end is exclusive. Lines and columns begin at 1."""

    sql: str
    line: int
    column: int
    end_line: int
    end_column: int


class Finding(Report):
    """What `penstock check --format json` prints, and the SQL of its hint."""

    paste: Pasted | None


@dataclass(frozen=True, slots=True)
class Checked:
    """What is wrong with the statements of the engine, and the statements that PostgreSQL is to judge."""

    findings: list[Finding]
    reads: list[ScriptPart]
    is_alone: bool
    """Whether no other statement could make what they read."""


def show_finding(diagnostic: Diagnostic) -> Finding:
    """A finding as an object, with the SQL of its hint."""
    paste = diagnostic.paste
    if paste is None:
        return {**report(diagnostic), "paste": None}
    (line, column), (end_line, end_column) = map(paste.span.source.position, (paste.span.start, paste.span.end))
    place: Pasted = {
        "sql": paste.sql, "line": line, "column": column, "end_line": end_line, "end_column": end_column
    }  # fmt: skip
    return {**report(diagnostic), "paste": place}


class CheckPlanner:
    """Knows the relations that there are. News are their definitions, in order: each is planned once."""

    def __init__(self) -> None:
        self._catalogs: list[tuple[Definition, Catalog]] = []

    def note(self, news: list[Definition]) -> None:
        """Plans the relations that are new."""
        known = 0
        for (before, _), now in zip(self._catalogs, news, strict=False):
            if before != now:
                break
            known += 1
        del self._catalogs[known:]
        for definition in news[known:]:
            try:
                catalog = compile(definition[2], self._catalog).catalog
            except CompileError:
                # The engine, which may be of another version, knows more. What uses the relation is refused as unknown.
                catalog = self._catalog.without(definition[0])
            self._catalogs.append((definition, catalog))

    def run(self, work: Any) -> Any:
        """What a Check finds, the text of a Format or what is wrong with it, or the parts of a Split."""
        match work:
            case Check():
                return self.check(work.text, work.max_words)
            case Format():
                return format_text(work.text)
            case _:
                return split_statements(work.text, work.max_words)

    def check(self, text: str, max_words: int) -> Checked:
        """What is wrong with a script, and what it is warned about, but for the statements of PostgreSQL."""
        parts = split_statements(text, max_words)
        reads = [each for each in parts if each.is_foreign]
        if len(reads) == len(parts):
            return Checked([], reads, is_alone=True)
        text = blank_out(text, reads)
        findings: Sequence[Diagnostic]
        try:
            findings = compile(text, self._catalog).diagnostics
        except CompileError as refusal:
            findings = without_served(text, refusal.diagnostics)
        return Checked([show_finding(finding) for finding in findings], reads, is_alone=False)

    @property
    def _catalog(self) -> Catalog:
        return self._catalogs[-1][1] if self._catalogs else Catalog()


def blank_out(text: str, parts: Sequence[ScriptPart]) -> str:
    """The text with blanks in the place of some of its statements. All others stay where they are."""
    for part in parts:
        end = part.start + len(part.text)
        text = text[: part.start] + re.sub(r"[^\n]", " ", text[part.start : end]) + text[end:]
    return text


def format_text(text: str) -> str | list[Finding]:
    """The text in the canonical layout, or what is wrong with it."""
    try:
        return format_script(Source("<sql>", text))
    except CompileError as refusal:
        return [show_finding(each) for each in refusal.diagnostics]
    except LayoutError:
        return text  # its layout would change its meaning, a defect of the formatter


def without_served(text: str, findings: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Drops findings about statements that a server carries out, and a script does not.

    What EXPLAIN WHY, PAUSE, RESUME and DROP QUERY are about, only the engine knows.
    """
    codes = {B002.id, V014.id}
    if not any(each.code in codes for each in findings):
        return list(findings)
    served = [
        each.span
        for each in parse(Source("<sql>", text))
        if isinstance(each, ast.ExplainWhy | ast.Pause | ast.Resume)
        or (isinstance(each, ast.Drop) and each.kind is ast.DropKind.QUERY)
    ]

    def is_served(finding: Diagnostic) -> bool:
        place = finding.labels[0].span.start if finding.labels else -1
        return finding.code in codes and any(span.start <= place < span.end for span in served)

    return [each for each in findings if not is_served(each)]
