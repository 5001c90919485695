"""docs/sql.md is right: its grammar is the grammar, and its examples are accepted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock import compile
from penstock.grammar.page import page
from penstock.planner import plan_text

PAGE = (Path(__file__).parents[2] / "docs" / "sql.md").read_text(encoding="utf-8")
DECLARATIONS, *EXAMPLES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)


def test_the_grammar_on_the_page_is_the_grammar() -> None:
    assert page(PAGE) == PAGE, "run python -m penstock.grammar"


@pytest.mark.parametrize("example", EXAMPLES, ids=[" ".join(example.split()[:3]) for example in EXAMPLES])
def test_the_example_is_accepted(example: str) -> None:
    compile(DECLARATIONS + example)


def test_windows_of_all_systems_have_one_plan() -> None:
    (example,) = (each for each in EXAMPLES if "DESCRIPTOR" in each)
    plans = {plan_text(compile(DECLARATIONS + each + ";").queries) for each in example.split(";") if each.strip()}
    assert len(plans) == 1
