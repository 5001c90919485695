"""docs/semantics.md is right: its examples are accepted, each over the relations declared in the first block."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.compilation import compile
from penstock.planner import state_text

PAGE = (Path(__file__).parents[2] / "docs" / "semantics.md").read_text(encoding="utf-8")
DECLARATIONS, *EXAMPLES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.split()[2] for example in EXAMPLES])
def test_the_example_is_accepted(example: str) -> None:
    assert compile(DECLARATIONS + example).queries


def test_the_estimate_is_what_explain_prints() -> None:
    (example,) = (each for each in EXAMPLES if "rate = " in each)
    compilation = compile(DECLARATIONS + example)
    assert f"```text\n{state_text(compilation.queries, compilation.settings)}\n```" in PAGE


def anchor(heading: str) -> str:
    """The anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def test_the_contents_name_every_section() -> None:
    headings = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    assert re.findall(r"\]\(#([^)]*)\)", PAGE) == [anchor(heading) for heading in headings]
