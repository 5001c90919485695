"""The links and the headings of documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.house.files import ROOT, list_files
from tests.house.prose import CODE, FENCE

TARGET = re.compile(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6} +(.*?)(?: +#+)?$")
ELSEWHERE = re.compile(r"[a-z]+:")


def list_documents() -> list[Path]:
    """All documents of the repository but the tests' own."""
    return [path for path in list_files(ROOT, ".md") if path.relative_to(ROOT).parts[0] != "tests"]


def list_lines(text: str) -> Iterator[str]:
    """The lines of a document that are no code."""
    fence = ""
    for line in text.splitlines():
        mark = FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        elif not fence:
            yield line


def list_targets(path: Path) -> list[str]:
    """Where the links of a document lead, if that is inside of the repository. Code has no links."""
    text = "\n".join(list_lines(path.read_text(encoding="utf-8")))
    targets = TARGET.findall(CODE.sub("", text))
    return [target for target in targets if not ELSEWHERE.match(target)]


@cache
def list_anchors(path: Path) -> frozenset[str]:
    """The anchors of a document's headings, as GitHub and the site make them."""
    headings = (HEADING.match(line) for line in list_lines(path.read_text(encoding="utf-8")))
    return frozenset(make_anchor(heading[1]) for heading in headings if heading)


def make_anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def explain_fault(path: Path, target: str) -> str | None:
    """What is wrong with a link of a document, None if nothing is."""
    name, _, anchor = target.partition("#")
    file = (path.parent / name).resolve() if name else path
    if not file.exists():
        return "no such file"
    if anchor and anchor not in list_anchors(file):
        return "no such heading"
    docs = ROOT / "docs"
    if path.is_relative_to(docs) and not file.is_relative_to(docs):
        return "the site has pages of docs/ alone"
    return None
