"""docs/semantics/ is right: its examples are accepted, each over the relations that docs/semantics.md declares."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.compilation import compile
from penstock.planner import state_text
from tests.house.files import ROOT

INDEX = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
PAGES = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "semantics").glob("*.md"))}
SQL = re.compile(r"```sql\n(.*?)```", re.DOTALL)
(DECLARATIONS,) = SQL.findall(INDEX)
EXAMPLES = [
    pytest.param(each, id=f"{path.stem}-{each.split()[2]}") for path in PAGES for each in SQL.findall(PAGES[path])
]
MOST_WORDS = 2000


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_example_is_accepted(example: str) -> None:
    assert compile(DECLARATIONS + example).queries


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 20


def test_the_estimate_is_what_explain_prints() -> None:
    page = PAGES[ROOT / "docs" / "semantics" / "state-size.md"]
    (example,) = (each for each in SQL.findall(page) if "rate = " in each)
    compilation = compile(DECLARATIONS + example)
    assert f"```text\n{state_text(compilation.queries, compilation.settings)}\n```" in page


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_contents_name_the_page(path: Path) -> None:
    assert re.findall(r"\]\(semantics/([^)#]*)\)", INDEX).count(path.name) == 1


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_is_read_at_one_sitting(path: Path) -> None:
    assert len(PAGES[path].split()) <= MOST_WORDS
