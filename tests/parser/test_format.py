"""Scripts in the canonical layout: they mean the same, keep their comments, and stay as they are."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.diagnostics import CompileError, Source
from penstock.grammar import dialect
from penstock.parser import LayoutError, format_script, parse, unparse
from penstock.parser.ast import Statement
from penstock.parser.format import script as format_module
from penstock.parser.format.layout import WIDTH
from tests.conformance.spellings.cases import SPELLINGS
from tests.golden.cases import CASES
from tests.properties.scripts import script as random_script
from tests.properties.statements import statements

EXAMPLES = Path(__file__).with_name("formats")
NOTES = ("-- note\n", "\n-- note\n", "/* note */", "\n/* two\n   lines */\n", "\n\n-- a\n\n-- b\n")
SCRIPTS = [each.sql for each in CASES[::12]] + [text for each in SPELLINGS for text in (each.sql, each.same) if text]


def formatted(text: str) -> str:
    return format_script(Source("<test>", text))


def assert_stable(text: str) -> str:
    """The layout of a text, which `format_script` itself has compared with it."""
    result = formatted(text)
    assert formatted(result) == result
    return result


def test_scripts_of_the_other_tests_are_stable() -> None:
    tried = 0
    for text in SCRIPTS:
        try:
            parse(Source("<test>", text))
        except CompileError:
            continue
        assert_stable(text)
        tried += 1
    assert tried > len(SCRIPTS) / 5


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(statements)
def test_statements_of_every_shape(generated: Statement) -> None:
    assert_stable(unparse(generated))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_random_scripts_with_comments(seed: int) -> None:
    chance = Random(seed)
    text = random_script(chance, Path("rows"))
    pieces, end = [], 0
    for token in dialect().lexer.tokens(text):
        pieces.append(text[end : token.start])
        if chance.random() < 0.1:
            pieces.append(chance.choice(NOTES))
        pieces.append(text[token.start : token.end])
        end = token.end
    result = assert_stable("".join([*pieces, text[end:]]))
    assert result.count("--") == "".join(pieces).count("--")


def test_lines_are_short() -> None:
    scripts = [formatted(random_script(Random(number), Path("rows"))) for number in range(30)]
    lines = [line for text in scripts for line in text.splitlines()]
    assert sum(len(line) > WIDTH for line in lines) < len(lines) / 100


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.sql")), ids=lambda path: path.stem)
def test_examples(path: Path, request: pytest.FixtureRequest) -> None:
    before, after = path.read_text(encoding="utf-8").split("-- ==== formatted\n")
    result = assert_stable(before)
    if request.config.getoption("--accept"):
        path.write_text(f"{before}-- ==== formatted\n{result}", encoding="utf-8")
    else:
        assert result == after


def test_a_layout_that_would_say_something_else_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(format_module, "_write_script", lambda text, language: text.replace("a", "b"))
    with pytest.raises(LayoutError):
        formatted("SELECT STREAM a FROM t;")


def test_a_lost_comment_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(format_module, "_write_script", lambda text, language: text.replace("-- note", ""))
    with pytest.raises(LayoutError):
        formatted("SELECT STREAM a -- note\nFROM t;")


def test_what_does_not_parse_is_refused() -> None:
    with pytest.raises(CompileError):
        formatted("SELECT STREAM FROM;")


@pytest.mark.parametrize("text", ["", "\n\n", ";", " ;; "])
def test_nothing(text: str) -> None:
    assert formatted(text) == ""


def test_comments_alone() -> None:
    assert formatted("\n-- a\n\n\n-- b") == "-- a\n\n-- b\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("SELECT STREAM a FROM t;; -- after", "SELECT STREAM a\nFROM t;\n-- after\n"),
        ("; -- a\nTABLE t; ; -- d\nTABLE u;", "-- a\nTABLE t;\n-- d\nTABLE u;\n"),
        (
            "BEGIN /* a */ STATEMENT SET; TABLE t; END; /* b */",
            "BEGIN STATEMENT SET;\n/* a */\nTABLE t;\nEND;\n/* b */\n",
        ),
    ],
)
def test_comments_beside_statements_without_words(text: str, lines: str) -> None:
    assert formatted(text) == lines
    assert formatted(lines) == lines
