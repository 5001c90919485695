"""docs/glossary.md: the words are in order, defined once, and used outside of the glossary; types have their words."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

import penstock
from penstock.commands import cli
from penstock.parser.ast import Stage
from penstock.planner.plan import Shape
from tests.house.files import ROOT, list_files
from tests.house.test_imports import BELOW

PAGE = ROOT / "docs" / "glossary.md"
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PUBLIC = [name for name in penstock.__all__ if isinstance(getattr(penstock, name), type)]
SHAPES = [each.__name__ for each in get_args(Shape)]
ENTRY = re.compile(r"^- \*\*(?P<word>[^*]+)\*\*(?: \((?P<types>[^)]+)\))?: (?P<text>.*(?:\n  .*)*)$", re.MULTILINE)


def entries() -> dict[str, str]:
    return {entry["word"]: entry["text"] for entry in ENTRY.finditer(PAGE.read_text(encoding="utf-8"))}


def list_types() -> list[str]:
    """The types that stand for words: behind a word, in a definition, or as the word itself."""
    page = PAGE.read_text(encoding="utf-8")
    behind = [name for entry in ENTRY.finditer(page) for name in re.findall(r"`(\w+)`", entry["types"] or "")]
    within = [name for text in entries().values() for name in re.findall(r"`([A-Z][a-z]\w*)`", text)]
    words = [word for word in entries() if re.fullmatch(r"[A-Z]+[a-z]\w*", word)]
    return [*behind, *(name for name in within if name not in behind), *words]


def list_stage_types() -> list[str]:
    """The types of all stages, as docs/architecture.md has them."""
    table = ARCHITECTURE.partition("| type |")[2].partition("\n\n")[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| ") and line.count("|") == 5]
    return [name for row in rows for name in re.findall(r"`(\w+)`", row[3])]


@cache
def list_modules() -> list[Path]:
    return [path for room in BELOW for path in list_files(ROOT / room, ".py")]


@cache
def used_text() -> str:
    """The code of all rooms and all other documents, in lower case, with single blanks."""
    files = list(list_modules())
    files += [path for path in list_files(ROOT / "docs", ".md") if path != PAGE]
    return " ".join(" ".join(path.read_text(encoding="utf-8") for path in files).lower().split())


def test_each_line_of_the_page_belongs_to_an_entry() -> None:
    head, *_ = PAGE.read_text(encoding="utf-8").partition("\n- **")
    rest = ENTRY.sub("", PAGE.read_text(encoding="utf-8").removeprefix(head))
    assert not rest.strip()


def test_the_words_are_in_order_and_defined_once() -> None:
    words = [entry["word"].lower() for entry in ENTRY.finditer(PAGE.read_text(encoding="utf-8"))]
    assert words == sorted(set(words))


def test_the_stages_are_those_of_explain_and_of_its_help() -> None:
    listed = re.search(r"`EXPLAIN` shows: ([A-Z, ]+)\.", " ".join(entries()["stage"].split()))
    assert listed is not None
    assert sorted(listed[1].split(", ")) == sorted(Stage.__members__)
    helped = re.findall(r"^ +([A-Z]{2,}) {2,}\S", cli.explain.help or "", re.MULTILINE)
    assert sorted(helped) == sorted(Stage.__members__)


def test_the_page_has_all_types_that_users_and_stages_have() -> None:
    assert "Session" in PUBLIC
    stages = list_stage_types()
    assert len(stages) == 6
    assert {*PUBLIC, *SHAPES, *stages} - {*list_types()} == set()


def test_a_type_stands_for_one_word() -> None:
    assert [name for name, count in Counter(list_types()).items() if count > 1] == []


@pytest.mark.parametrize("name", list_types())
def test_the_types_are_there(name: str) -> None:
    defined = rf"^class {name}\b|^{name}: TypeAlias"
    assert any(re.search(defined, path.read_text(encoding="utf-8"), re.MULTILINE) for path in list_modules())


@pytest.mark.parametrize("other", ["accounting", "bookkeeping", "tally", "tallies"])
def test_rows_have_an_account_and_batches_a_ledger(other: str) -> None:
    """One word for each: account (rows of an input), ledger (micro-batches written), report (what people see)."""
    assert re.findall(rf".{{30}}\b{other}\b.{{30}}", used_text()) == []


@pytest.mark.parametrize("word", entries())
def test_a_word_is_used(word: str) -> None:
    assert re.search(rf"\b{re.escape(word.lower())}", used_text())


@pytest.mark.parametrize("word", entries())
def test_a_definition_is_short(word: str) -> None:
    sentences = re.split(r"(?<=[.?!])\s+", " ".join(entries()[word].split()))
    assert len(sentences) <= 3
    assert all(len(sentence.split()) <= 25 for sentence in sentences)
