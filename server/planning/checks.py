"""Jobs of the doors: checks of a text while it is typed, and scripts that are cut into statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penstock.compilation import compile
from penstock.diagnostics import CompileError, Diagnostic, Report, Source, report
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.server import V014
from penstock.parser import ast, count_words, parse
from penstock.planner import Catalog

Definition = tuple[str, int, str]
"""Name, version and statement of a relation."""
_SCRIPT = 10
"""Times as long as a statement. A longer script takes more time to be parsed than others should wait."""


@dataclass(frozen=True, slots=True)
class Check:
    """What is wrong with a text, and what it is warned about."""

    text: str


@dataclass(frozen=True, slots=True)
class Split:
    """The statements of a script. `max_words`: the most words of one of them."""

    text: str
    max_words: int


@dataclass(frozen=True, slots=True)
class ScriptPart:
    """A statement of a script. `start`: the offset of its first character. `settings`: each SET that is before it."""

    start: int
    text: str
    settings: str = ""


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
        """The findings of a Check, or the parts of a Split."""
        return self.check(work.text) if isinstance(work, Check) else split_statements(work.text, work.max_words)

    def check(self, text: str) -> list[Report]:
        """What is wrong with a script, and what it is warned about."""
        findings: Sequence[Diagnostic]
        try:
            findings = compile(text, self._catalog).diagnostics
        except CompileError as refusal:
            findings = without_served(text, refusal.diagnostics)
        return [report(finding) for finding in findings]

    @property
    def _catalog(self) -> Catalog:
        return self._catalogs[-1][1] if self._catalogs else Catalog()


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


def split_statements(sql: str, max_words: int) -> list[ScriptPart]:
    """The statements of a script. Each takes effect by itself, so each is sent with the settings of the script.

    A script that cannot be parsed, or has a statement that is too long, is one statement. The engine refuses it.
    """
    source = Source("<sql>", sql)
    counts = count_words(source)
    if max(counts, default=0) > max_words or sum(counts) > _SCRIPT * max_words:
        return [ScriptPart(0, sql)]
    try:
        statements = parse(source)
    except CompileError:
        return [ScriptPart(0, sql)]
    parts = []
    settings = ""
    for statement in statements:
        span = statement.span
        if isinstance(statement, ast.SetOption):
            settings += f"{span.text};\n"
        else:
            parts.append(ScriptPart(span.start, span.text, settings))
    return parts or [ScriptPart(0, sql)]
