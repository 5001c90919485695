"""The site: each page is in its navigation, each link leads somewhere, and nothing is loaded from other hosts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docs.links import explain_fault, list_documents, list_lines, list_targets
from tests.house.files import ROOT, list_files

DOCS = ROOT / "docs"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
ITEM = re.compile(r"(?P<indent> *)(?:[-*]|\d\.) ")
INDEX = DOCS / "errors" / "README.md"
QUESTIONS = ("Kafka", "late", "PostgreSQL", "connector", "test", "limits", "schedule", "change a query")


def list_pages(entry: Any) -> Iterator[str]:
    """The pages of an entry of the navigation."""
    match entry:
        case str():
            yield entry
        case list():
            for each in entry:
                yield from list_pages(each)
        case dict():
            for each in entry.values():
                yield from list_pages(each)


def test_each_page_is_in_the_navigation_once() -> None:
    written = [path for path in list_files(DOCS, ".md") if path.parent != INDEX.parent or path == INDEX]
    assert sorted(list_pages(PROJECT["nav"])) == sorted(path.relative_to(DOCS).as_posix() for path in written)


@pytest.mark.parametrize("path", list_documents(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    faults = {target: explain_fault(path, target) for target in list_targets(path)}
    assert {target: fault for target, fault in faults.items() if fault} == {}


def test_a_link_that_leads_nowhere_is_found() -> None:
    page = DOCS / "sql.md"
    assert explain_fault(page, "nowhere.md") == "no such file"
    assert explain_fault(page, "settings.md#nowhere") == "no such heading"
    assert explain_fault(page, "#nowhere") == "no such heading"
    assert explain_fault(page, "../README.md") == "the site has pages of docs/ alone"
    assert explain_fault(page, "errors/README.md") is None
    assert explain_fault(page, "#types") is None


def list_swallowed(lines: list[str]) -> Iterator[str]:
    """The items of lists that the site would print as a part of the paragraph before them, or on a wrong level."""
    paragraph: list[str] = []
    for line in lines:
        item = ITEM.match(line)
        if not line.strip() or line.startswith(("#", "<!--")):
            paragraph = []
            continue
        in_text = bool(paragraph) and not any(ITEM.match(each) or each.startswith(" ") for each in paragraph)
        in_item = bool(paragraph) and paragraph[0].startswith(" ") and not ITEM.match(paragraph[0])
        if item and (in_text or len(item["indent"]) % 4 or (in_item and not item["indent"])):
            yield line
        paragraph.append(line)


@pytest.mark.parametrize("path", list_files(DOCS, ".md"), ids=lambda path: path.relative_to(DOCS).as_posix())
def test_lists_are_lists_on_the_site(path: Path) -> None:
    assert [*list_swallowed([*list_lines(path.read_text(encoding="utf-8"))])] == []


def test_a_list_that_is_none_is_found() -> None:
    assert [*list_swallowed(["Text:", "- one"])] == ["- one"]
    assert [*list_swallowed(["- one", "  - two", "    - three"])] == ["  - two"]
    assert [*list_swallowed(["- one", "", "    Text", "- two"])] == ["- two"]
    assert [*list_swallowed(["# Title", "- one", "  goes on", "- two", "", "Text", "", "1. three"])] == []


def test_the_first_page_answers_the_questions_of_newcomers() -> None:
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.*) \| (\[.*\]\(.*\).*) \|$", page, re.MULTILINE)
    asked = [question for question, _ in rows]
    assert [word for word in QUESTIONS if not any(word in each for each in asked)] == []
    assert len(page.split()) < 400


def test_nothing_is_loaded_from_other_hosts() -> None:
    assert PROJECT["theme"]["font"] is False
    for name in (*PROJECT["extra"]["polyfills"], *PROJECT.get("extra_javascript", ()), *PROJECT.get("extra_css", ())):
        assert (DOCS / name).is_file()
    pictures = [path for path in list_documents() if re.search(r"!\[[^\]]*\]\(https?:", path.read_text("utf-8"))]
    assert pictures == []
