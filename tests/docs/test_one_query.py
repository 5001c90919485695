"""docs/one-query.md shows one query at every stage, as EXPLAIN prints it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.compilation import compile
from penstock.explain import explain
from penstock.parser.ast import Stage

PAGE = Path(__file__).parents[2] / "docs" / "one-query.md"
SQL = re.compile(r"```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"(?<=^## )(?P<stage>[A-Z]+)\n```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_printed_stages_are_those_of_the_query(request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text(encoding="utf-8")
    query = SQL.search(page)
    assert query
    compilation = compile(query[1])

    def printed(block: re.Match[str]) -> str:
        return f"{block['stage']}\n```{block['language']}\n{explain(compilation, Stage(block['stage']))}```"

    expected, stages = BLOCK.subn(printed, page)
    assert stages == 5
    if request.config.getoption("--accept"):
        PAGE.write_text(expected, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == expected
