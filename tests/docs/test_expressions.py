"""docs/expressions.md says what forms are read as; the parser agrees."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.parser.texts import query

PAGE = Path(__file__).parents[2] / "docs" / "expressions.md"


def forms() -> list[tuple[str, str]]:
    """Each form of the table, and the one that it is read as."""
    found: list[tuple[str, str]] = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = re.split(r"(?<!\\)\|", line)
        if len(cells) != 4:
            continue
        written, meaning = (re.findall("`([^`]+)`", cell.replace("\\|", "|")) for cell in cells[1:3])
        if cells[2].strip().startswith("`"):
            found += zip(written, meaning if len(meaning) == len(written) else meaning[:1] * len(written), strict=True)
    return found


@pytest.mark.parametrize(("written", "meaning"), forms())
def test_a_form_is_read_as_the_other(written: str, meaning: str) -> None:
    assert query(f"SELECT {written} FROM o") == query(f"SELECT {meaning} FROM o")


def test_the_table_is_found() -> None:
    assert len(forms()) > 20
