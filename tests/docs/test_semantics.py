"""docs/semantics.md is right: its examples are accepted, each over the relations declared in the first block."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock import compile

PAGE = (Path(__file__).parents[2] / "docs" / "semantics.md").read_text(encoding="utf-8")
DECLARATIONS, *EXAMPLES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.split()[2] for example in EXAMPLES])
def test_the_example_is_accepted(example: str) -> None:
    assert compile(DECLARATIONS + example).queries


def anchor(heading: str) -> str:
    """The anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def test_the_contents_name_every_section() -> None:
    headings = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    assert re.findall(r"\]\(#([^)]*)\)", PAGE) == [anchor(heading) for heading in headings]
