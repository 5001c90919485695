"""docs/coming-from/*.md are right: each cell on the right that is SQL compiles over the relations of its page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock import compile

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "coming-from").glob("*.md"))
_ROW = re.compile(r"^\| .+ \| (.+) \|$", re.MULTILINE)


def cells(page: str) -> list[str]:
    """The statements in the right column."""
    right = (cell.strip("`") for cell in _ROW.findall(page) if cell.startswith("`"))
    return [cell for cell in right if not cell.startswith("penstock ")]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_cells_on_the_right_are_accepted(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    (declarations,) = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    assert len(cells(page)) > 12
    assert compile(";\n".join([declarations.rstrip().rstrip(";"), *cells(page)])).queries


def test_there_is_a_page_for_each_system() -> None:
    assert [path.stem for path in PAGES] == ["flink", "ksqldb", "spark"]
