"""A script of another system -> a script of Penstock, checked statement by statement, and a report."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.compilation import Compilation, compile_sources
from penstock.diagnostics import CompileError, Diagnostic, Source
from penstock.parser import LayoutError, Token, format_script, split_script
from penstock.planner.catalog import Derived
from penstock.planner.plan import Node
from penstock.translate.declaration import read_declaration
from penstock.translate.differences import list_differences
from penstock.translate.model import (
    Known,
    NotTranslatedError,
    Rewritten,
    System,
    TranslatedStatement,
    Verdict,
)
from penstock.translate.rewriting import REFUSED, explain_left_out, rewrite
from penstock.translate.statement import Foreign
from penstock.translate.trees import rewrite_tree

_SEMICOLON = re.compile(r"((?:\s|--[^\n]*|/\*.*?\*/)*);", re.DOTALL)
_EMIT = re.compile(r"\s+EMIT\s+CHANGES\s*\Z", re.IGNORECASE)
_TABLE = re.compile(r"\bTABLE\b", re.IGNORECASE)
_UNREADABLE = "S"
_UNKNOWN_COLUMN = "N001"
_OTHER_KEY, _UNSUPPORTED = "P002", "B002"
_GIVES_STREAM, _NEEDS_STREAM_WORD = "K003", "K002"


@dataclass(slots=True)
class _Script:
    """What has been accepted so far, as it is checked, and what it has said."""

    system: System
    known: Known
    accepted: list[Source]
    names: frozenset[str] = frozenset()

    def check(self, sql: str) -> Compilation:
        """The script with one more statement. Raises CompileError."""
        return compile_sources([*self.accepted, Source(f"statement {len(self.accepted) + 1}", sql)])


def translate(source: Source, system: System) -> Iterator[tuple[str, TranslatedStatement | None]]:
    """The text before each statement, and the statement. The last text has none."""
    script = _Script(system, Known(), [])
    end = 0
    for tokens in split_script(source, escapes=system is System.SPARK):
        first, last = _unwrap_set(tokens)
        before = _drop_semicolons(source.text[end : tokens[0].start])
        end = tokens[-1].end
        if first < last:
            inside = source.text[tokens[first - 1].end : tokens[first].start] if first else ""
            line = source.text.count("\n", 0, tokens[first].start) + 1
            yield (
                before + inside,
                _translate_statement(Foreign(source.text, tokens[first:last], source.shown), line, script),
            )
        else:
            yield before, None
    yield _drop_semicolons(source.text[end:]), None


def _drop_semicolons(gap: str) -> str:
    """White space and comments between two statements."""
    while match := _SEMICOLON.match(gap):
        gap = match[1] + gap[match.end() :]
    return gap


def _unwrap_set(tokens: list[Token]) -> tuple[int, int]:
    """The tokens of the statement without those of the STATEMENT SET around it."""
    words = [token.word for token in tokens]
    for head in (["EXECUTE", "STATEMENT", "SET", "BEGIN"], ["BEGIN", "STATEMENT", "SET"]):
        if words[: len(head)] == head:
            return len(head), len(tokens)
    return (0, 0) if words == ["END"] else (0, len(tokens))


def _translate_statement(statement: Foreign, line: int, script: _Script) -> TranslatedStatement:
    title = _write_title(statement)
    try:
        own = _find_own(statement, script)
        if own is not None:
            script.accepted.append(own.sources[-1])
            script.names = frozenset(own.catalog.entries)
            return TranslatedStatement(line, title, Verdict.SAME, statement.whole)
        rewritten = rewrite(statement, script.system, script.known)
        if rewritten is None:
            note = explain_left_out(statement)
            return TranslatedStatement(line, title, Verdict.CHANGED, "", (note,))
        rewritten, compilation = _check(rewritten, statement, script)
    except NotTranslatedError as refusal:
        return TranslatedStatement(line, title, Verdict.REFUSED, statement.without_secrets, (str(refusal),))
    except CompileError as refusal:
        notes = _explain(refusal.diagnostics[0], script.known)
        return TranslatedStatement(line, title, Verdict.REFUSED, statement.without_secrets, notes)
    differences = tuple(list_differences(statement, script.system, _find_plans(compilation, script)))
    script.accepted.append(compilation.sources[-1])
    script.names = frozenset(compilation.catalog.entries)
    notes = (*rewritten.changes, *differences)
    return TranslatedStatement(
        line, title, Verdict.CHANGED if notes else Verdict.SAME, _lay_out(rewritten, statement), notes
    )


def _find_own(statement: Foreign, script: _Script) -> Compilation | None:
    """A declaration, or a word to another system, that is one of Penstock as it stands; None for other statements."""
    try:
        declared = read_declaration(statement, ("STREAM", "TABLE"))
        if statement.word(0) not in REFUSED and (declared is None or statement.find("AS") < len(statement)):
            return None
        compilation = script.check(statement.whole)
    except (CompileError, NotTranslatedError):
        return None
    return compilation


def _check(rewritten: Rewritten, statement: Foreign, script: _Script) -> tuple[Rewritten, Compilation]:
    """The statement as the compiler accepts it. Raises CompileError."""
    try:
        return rewritten, script.check(rewritten.checked or rewritten.sql)
    except CompileError as refusal:
        mended = _mend(rewritten, statement, refusal.diagnostics[0], script.system)
        if mended is None:
            raise
    return mended, script.check(mended.checked or mended.sql)


def _mend(rewritten: Rewritten, statement: Foreign, finding: Diagnostic, system: System) -> Rewritten | None:
    """The statement with what the finding asks for, None if that is not known."""
    if finding.code == _NEEDS_STREAM_WORD and finding.fix:
        return Rewritten(finding.fix, (*rewritten.changes, "SELECT STREAM: the rows of a stream, each once"))
    if finding.code == _OTHER_KEY and finding.fix:
        return Rewritten(finding.fix, (*rewritten.changes, "PARTITION BY divides a side anew, as the join needs it"))
    if finding.code == _UNSUPPORTED and (finding.hint or "").startswith("EMIT FINAL"):
        sql = _EMIT.sub("", rewritten.sql) + " EMIT FINAL"
        told = "a window that passes a condition is sent once, when it is final: EMIT FINAL"
        return Rewritten(sql, (*rewritten.changes, told))
    if finding.code == _GIVES_STREAM and statement.word(0) == "CREATE" and "CREATE STREAM" in (finding.hint or ""):
        return _swap_kind(rewritten, system)
    if finding.code.startswith(_UNREADABLE):
        return rewrite_tree(rewritten, system)
    return None


def _swap_kind(rewritten: Rewritten, system: System) -> Rewritten:
    """CREATE TABLE … AS of rows that are a stream."""
    sql = _TABLE.sub("STREAM", rewritten.sql, count=1)
    checked = rewritten.checked and _TABLE.sub("STREAM", rewritten.checked, count=1)
    change = f"a table of {system.title} without a key is a stream: CREATE STREAM"
    return Rewritten(sql, (*rewritten.changes, change), checked)


def _find_plans(compilation: Compilation, script: _Script) -> Iterator[Node]:
    """The plans of what the last statement has made."""
    last = compilation.sources[-1]
    yield from (query.root for query in compilation.queries if query.span.source is last)
    for name, entry in compilation.catalog.entries.items():
        if name not in script.names and isinstance(entry, Derived):
            yield entry.node


def _lay_out(rewritten: Rewritten, statement: Foreign) -> str:
    """What is not as it was is laid out, below the comments that it has lost; else the text stays."""
    if rewritten.sql == statement.whole:
        return rewritten.sql
    lost = "".join(f"{comment}\n" for comment in statement.comments() if comment not in rewritten.sql)
    try:
        return lost + format_script(Source("translation", rewritten.sql)).rstrip().removesuffix(";")
    except (CompileError, LayoutError):
        return lost + rewritten.sql


def _explain(finding: Diagnostic, known: Known) -> tuple[str, ...]:
    name = finding.labels[0].span.text.rpartition(".")[2].strip("`") if finding.labels else ""
    if finding.code == _UNKNOWN_COLUMN and name.lower() in known.processing_times:
        reason = f"{name} is a processing time, which differs after a restart: rows are ordered by their event time"
        return (f"{finding.code}: {finding.message}", reason)
    told = [f"{finding.code}: {finding.message}", finding.detail, finding.fix or finding.hint]
    return tuple(text for text in told if text)


def _write_title(statement: Foreign) -> str:
    words = " ".join(statement.without_secrets.split())
    return words if len(words) <= 60 else words[:59] + "…"
