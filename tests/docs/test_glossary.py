"""docs/glossary.md: the words are in order, defined once, and used outside of the glossary."""

from __future__ import annotations

import re
from functools import cache

import pytest

from penstock.parser.ast import Stage
from tests.house.files import ROOT, list_files
from tests.house.test_imports import BELOW

PAGE = ROOT / "docs" / "glossary.md"
ENTRY = re.compile(r"^- \*\*(?P<word>[^*]+)\*\*: (?P<text>.*(?:\n  .*)*)$", re.MULTILINE)


def entries() -> dict[str, str]:
    return {entry["word"]: entry["text"] for entry in ENTRY.finditer(PAGE.read_text(encoding="utf-8"))}


@cache
def used_text() -> str:
    """The code of all rooms and all other documents, in lower case, with single blanks."""
    files = [path for room in BELOW for path in list_files(ROOT / room, ".py")]
    files += [path for path in list_files(ROOT / "docs", ".md") if path != PAGE]
    return " ".join(" ".join(path.read_text(encoding="utf-8") for path in files).lower().split())


def test_each_line_of_the_page_belongs_to_an_entry() -> None:
    head, *_ = PAGE.read_text(encoding="utf-8").partition("\n- **")
    rest = ENTRY.sub("", PAGE.read_text(encoding="utf-8").removeprefix(head))
    assert not rest.strip()


def test_the_words_are_in_order_and_defined_once() -> None:
    words = [entry["word"].lower() for entry in ENTRY.finditer(PAGE.read_text(encoding="utf-8"))]
    assert words == sorted(set(words))


def test_the_stages_are_those_of_explain() -> None:
    listed = re.search(r"`EXPLAIN` shows: ([A-Z, ]+)\.", " ".join(entries()["stage"].split()))
    assert listed is not None
    assert sorted(listed[1].split(", ")) == sorted(Stage.__members__)


@pytest.mark.parametrize("word", entries())
def test_a_word_is_used(word: str) -> None:
    assert re.search(rf"\b{re.escape(word.lower())}", used_text())


@pytest.mark.parametrize("word", entries())
def test_a_definition_is_short(word: str) -> None:
    sentences = re.split(r"(?<=[.?!])\s+", " ".join(entries()[word].split()))
    assert len(sentences) <= 3
    assert all(len(sentence.split()) <= 25 for sentence in sentences)
