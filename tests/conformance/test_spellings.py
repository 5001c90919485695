"""Statements in the spellings of other systems have the plans, or the refusals, of the corpus in `spellings/`."""

from __future__ import annotations

from functools import cache

import pytest
from msgspec.structs import replace

from penstock.compilation import compile, compile_read
from penstock.diagnostics import CompileError, Diagnostic, Source, render
from penstock.planner import Catalog
from tests.conformance.spellings.cases import PRELUDE, SPELLINGS, Spelling, accept, read_pending

PENDING = read_pending()
ABOUT_MEANINGS = {"T019", "T020"}


@cache
def declared() -> Catalog:
    return compile(PRELUDE.read_text(encoding="utf-8")).catalog


def plan(sql: str, *, read: bool) -> object:
    """Everything that a statement means, without places in the text and names that Penstock gives to queries."""
    if read:
        return compile_read(Source("<read>", sql.strip()), declared(), memory=True)
    compilation = compile(sql, declared())
    queries = [replace(query, name="", sink=replace(query.sink, name="")) for query in compilation.queries]
    entries = compilation.catalog.entries
    before = declared().entries
    return (
        queries,
        compilation.answers,
        compilation.settings,
        {name: entry for name, entry in entries.items() if before.get(name) != entry},
        before.keys() - entries.keys(),
    )


def judge(spelling: Spelling) -> str:
    """What comes instead of what is expected, in a word: a code, `differs`, `accepted`, `warnings` or `hint`.

    Empty if it holds.
    """
    try:
        given = plan(spelling.sql, read=spelling.read)
    except CompileError as refusal:
        return judge_refusal(spelling, refusal.diagnostics[0])
    if spelling.same is None:
        return "accepted"
    if not spelling.read and not judge_warnings(spelling):
        return "warnings"
    try:
        return "" if given == plan(spelling.same, read=spelling.read) else "differs"
    except CompileError as refusal:
        return f"ours {refusal.diagnostics[0].code}"


def judge_warnings(spelling: Spelling) -> bool:
    """Whether the statement has the warnings that the block has, and no other about meanings elsewhere."""
    warnings = compile(spelling.sql, declared()).diagnostics
    texts = [(each.code, " ".join(render(each).split())) for each in warnings]
    expected = all(any(code == other and piece in text for other, text in texts) for code, piece in spelling.warnings)
    codes = {code for code, _ in spelling.warnings}
    return expected and all(code in codes for code, _ in texts if code in ABOUT_MEANINGS)


def judge_refusal(spelling: Spelling, finding: Diagnostic) -> str:
    if finding.code != spelling.code:
        return finding.code
    return "" if spelling.hint in " ".join(render(finding).split()) else "hint"


@pytest.mark.parametrize("spelling", [pytest.param(each, id=each.name) for each in SPELLINGS])
def test_spelling(spelling: Spelling, request: pytest.FixtureRequest) -> None:
    outcome = judge(spelling)
    if request.config.getoption("--accept"):
        accept(spelling.name, outcome)
    else:
        assert outcome == PENDING.get(spelling.name, ("",))[0]


def test_names() -> None:
    names = [each.name for each in SPELLINGS]
    assert sorted(set(names)) == sorted(names)
    assert set(PENDING) <= set(names)


def test_the_corpus_covers_all_systems() -> None:
    systems = {each.name.partition("/")[0] for each in SPELLINGS}
    assert systems == {"flink", "ksqldb", "postgres", "spark"}
    assert len(SPELLINGS) >= 320
