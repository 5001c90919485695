"""A script of another system -> a script of Penstock, checked statement by statement, and a report."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from penstock.compilation import Compilation, compile_sources
from penstock.diagnostics import CompileError, Diagnostic, Source, hide_credentials
from penstock.parser import LayoutError, format_script, name_text
from penstock.planner.catalog import Catalog, Declared, Derived
from penstock.planner.plan import Node
from penstock.planner.plan.expressions import Expression
from penstock.planner.plan.walk import walk
from penstock.translate.declaration import read_declaration
from penstock.translate.differences import find_unnamed, list_differences
from penstock.translate.foreign_statement import Foreign, find_comments
from penstock.translate.model import (
    Known,
    NotTranslatedError,
    Rewritten,
    System,
    TranslatedStatement,
    Verdict,
)
from penstock.translate.parts import split_parts
from penstock.translate.rewrite_query import show_places
from penstock.translate.rewrite_tokens import REFUSED, rewrite
from penstock.translate.rewrite_tree import rewrite_tree
from penstock.translate.session_statements import explain_left_out, hide_secrets
from penstock.translate.typed_changes import TypedChange, apply_changes, find_changes, shorten

_EMIT = re.compile(r"\s+EMIT\s+CHANGES\s*\Z", re.IGNORECASE)
_TABLE = re.compile(r"\bTABLE\b", re.IGNORECASE)
_FOREIGN = "a cell of another language: a script has SQL alone"
_UNREADABLE = "S"
_UNKNOWN_COLUMN, _UNKNOWN_NAME = "N001", "K012"
_OTHER_KEY, _UNSUPPORTED = "P002", "B002"
_SWAPPED, _OTHERWISE = "T019", "T020"
_ROUNDS = 40  # rounds, for expressions inside each other
_GIVES_STREAM, _NEEDS_STREAM_WORD = "K003", "K002"


@dataclass(slots=True)
class _Script:
    """What has been accepted so far, and what it has said."""

    system: System
    known: Known
    catalog: Catalog = field(default_factory=Catalog)

    def check(self, sql: str) -> Compilation:
        """One more statement after the accepted ones. Raises CompileError."""
        return compile_sources([Source("statement", sql)], self.catalog)

    def accept(self, compilation: Compilation) -> None:
        """Later statements see what this one declares, and what it runs."""
        running = (*self.catalog.running, *compilation.queries)
        self.catalog = msgspec.structs.replace(compilation.catalog, running=running)


def translate(source: Source, system: System) -> Iterator[tuple[str, TranslatedStatement | None]]:
    """The text before each statement, and the statement. The last text has none."""
    script = _Script(system, Known(source=source))
    for part in split_parts(source, escapes=system is System.SPARK):
        line, _ = source.position(part.start)
        if part.foreign:
            text = hide_credentials(part.foreign)
            yield part.before, TranslatedStatement(line, text, Verdict.REFUSED, text, (_FOREIGN,))
        elif part.tokens:
            yield part.before, _translate_statement(Foreign(source.text, part.tokens), line, script)
        else:
            yield part.before, None


def _translate_statement(statement: Foreign, line: int, script: _Script) -> TranslatedStatement:
    text = hide_secrets(statement)
    try:
        statement.check_depth()
        own = _find_own(statement, script)
        if own is not None:
            script.accept(own)
            return TranslatedStatement(line, text, Verdict.SAME, statement.whole)
        rewritten = rewrite(statement, script.system, script.known)
        if rewritten is None:
            return TranslatedStatement(line, text, Verdict.CHANGED, "", explain_left_out(statement))
        rewritten, compilation = _check(rewritten, statement, script)
        rewritten, compilation = _keep_types(rewritten, compilation, statement, script)
    except NotTranslatedError as refusal:
        notes: tuple[str, ...] = (str(refusal),)
    except CompileError as refusal:
        notes = _explain(refusal.diagnostics[0], script.known)
    else:
        differences = list_differences(statement, script.system, _find_plans(compilation, script))
        unnamed = find_unnamed(compilation.statements, script.system)
        notes = (*rewritten.changes, *differences, *unnamed, *_list_warnings(compilation, statement, script))
        script.accept(compilation)
        verdict = Verdict.CHANGED if notes else Verdict.SAME
        return TranslatedStatement(line, text, verdict, _lay_out(rewritten, statement), notes)
    _note_refusal(statement, line, script.known)
    return TranslatedStatement(line, text, Verdict.REFUSED, text, notes)


def _note_refusal(statement: Foreign, line: int, known: Known) -> None:
    """Remembers the name that a refused statement would have made."""
    if statement.word(0) == "CREATE":
        kinds = (place for place in range(1, len(statement)) if statement.word(place) in ("STREAM", "TABLE", "VIEW"))
        place = next(kinds, len(statement)) + 1
        place += 3 if statement.says(place, "IF NOT EXISTS") else 0
        while statement.sign(place + 1) == ".":
            place += 2
        known.refused.setdefault(statement.value(place).lower(), line)


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


def _keep_types(
    rewritten: Rewritten, compilation: Compilation, statement: Foreign, script: _Script
) -> tuple[Rewritten, Compilation]:
    """The statement with what means something else because of the types of its operands."""
    told: dict[str, list[str]] = {}
    is_kept = rewritten.checked in (None, rewritten.sql)
    changes: list[TypedChange] = []
    for _ in range(_ROUNDS):
        source, expressions = compilation.sources[-1], _find_expressions(compilation, script)
        changes = [*find_changes(expressions, source, script.system, script.known)]
        sql = apply_changes(source.text, changes) if is_kept else source.text
        if sql == source.text:
            break
        try:
            compilation = script.check(sql)
        except CompileError:
            break
        for each in (each for each in changes if each.text is not None):
            told.setdefault(each.told, []).append(shorten(source.text[each.start : each.end]))
        rewritten = Rewritten(sql, rewritten.changes)
    for each in changes:
        text = compilation.sources[-1].text[each.start : each.end]
        if text in statement.whole or each.text is not None:
            told.setdefault(each.told, []).append(shorten(text))
    notes = (f"{change} ({show_places(list(dict.fromkeys(places)))})" for change, places in told.items())
    return Rewritten(rewritten.sql, (*rewritten.changes, *notes), rewritten.checked), compilation


def _find_expressions(compilation: Compilation, script: _Script) -> Iterator[Expression]:
    """The expressions of what a statement has made."""
    for plan in _find_plans(compilation, script):
        for node in walk(plan):
            yield from node.expressions
    for name, entry in compilation.catalog.entries.items():
        if isinstance(entry, Declared) and entry is not script.catalog.entries.get(name):
            yield from (item.value for item in entry.items)


def _list_warnings(compilation: Compilation, statement: Foreign, script: _Script) -> Iterator[str]:
    """What the check of the result says of forms that this system takes otherwise, and that stand in the statement."""
    for each in (*compilation.diagnostics, *_check_uses(compilation, script)):
        text, system = each.labels[0].span.text if each.labels else "", script.system
        is_known = system is System.KSQLDB if each.code == _SWAPPED else system.title in each.message
        if each.code not in (_SWAPPED, _OTHERWISE) or not is_known or text not in statement.whole:
            continue
        if not (system is System.SPARK and "\\" in text):  # what it means is written already
            told = [f"{each.code}: {each.message}", each.detail, each.hint]
            yield ". ".join(part.rstrip(".") for part in told if part)


def _check_uses(compilation: Compilation, script: _Script) -> Iterator[Diagnostic]:
    """The warnings of views and computed columns, which come where they are used."""
    for name, entry in compilation.catalog.entries.items():
        is_used = entry.kind == "VIEW" if isinstance(entry, Derived) else isinstance(entry, Declared) and entry.items
        if entry is script.catalog.entries.get(name) or not is_used:
            continue
        for word in ("SELECT STREAM", "SELECT"):
            with suppress(CompileError):
                source = Source("use", f"{word} * FROM {name_text(entry.name)}")
                yield from compile_sources([source], compilation.catalog).diagnostics
                break


def _find_plans(compilation: Compilation, script: _Script) -> Iterator[Node]:
    """The plans of what a statement has made."""
    yield from (query.root for query in compilation.queries)
    for name, entry in compilation.catalog.entries.items():
        if isinstance(entry, Derived) and entry is not script.catalog.entries.get(name):
            yield entry.node


def _lay_out(rewritten: Rewritten, statement: Foreign) -> str:
    """What is not as it was is laid out, below the comments that it has lost; else the text stays."""
    if rewritten.sql == statement.whole:
        return rewritten.sql
    kept = set(find_comments(rewritten.sql))
    lost = "".join(f"{comment}\n" for comment in statement.comments() if comment not in kept)
    try:
        return lost + format_script(Source("translation", rewritten.sql)).rstrip().removesuffix(";")
    except (CompileError, LayoutError):
        return lost + rewritten.sql


def _explain(finding: Diagnostic, known: Known) -> tuple[str, ...]:
    name = finding.labels[0].span.text.rpartition(".")[2].strip("`") if finding.labels else ""
    if finding.code == _UNKNOWN_COLUMN and name.lower() in known.processing_times:
        reason = f"{name} is a processing time, which differs after a restart: rows are ordered by their event time"
        return (f"{finding.code}: {finding.message}", reason)
    if finding.code == _UNKNOWN_NAME and (line := known.refused.get(name.lower())) is not None:
        return (f"{finding.code}: {finding.message}", f"{name} is refused above, in line {line}")
    told = [f"{finding.code}: {finding.message}", finding.detail, finding.fix or finding.hint]
    return tuple(text for text in told if text)
