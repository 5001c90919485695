"""docs/limits.md has the numbers of the code."""

from __future__ import annotations

import re

import pytest

from penstock.diagnostics.all_codes import CATALOG
from penstock.grammar import MAX_DEPTH
from penstock.parser.build import base
from penstock.parser.depth import MAX_HEIGHT
from penstock.planner.lower import aliases, grouping_sets, plan_limits, time_windows
from penstock.planner.scalars import sizes
from tests.house.files import ROOT

ROW = re.compile(r"^\| .* \| (?P<numbers>[\d,; ]+) \| \[(?P<code>L\d+)\]", re.MULTILINE)
NUMBERS = {
    "L001": [MAX_DEPTH],
    "L002": [base.MAX_CHAIN, grouping_sets.MOST_SETS],
    "L003": [MAX_HEIGHT],
    "L004": [plan_limits.LARGEST_PLAN],
    "L005": [time_windows.MOST_WINDOWS],
    "L006": [sizes.LIMIT],
    "L007": [aliases.LARGEST_ITEM, plan_limits.LARGEST_EXPRESSION],
    "L008": [plan_limits.LARGEST_TYPE, plan_limits.DEEPEST_TYPE],
}
SHOWN = {row["code"]: row["numbers"] for row in ROW.finditer((ROOT / "docs" / "limits.md").read_text("utf-8"))}


def test_each_limit_of_scripts_is_listed() -> None:
    assert [*SHOWN] == [*NUMBERS] == [code.id for code in CATALOG if code.id.startswith("L")]


@pytest.mark.parametrize("code", NUMBERS)
def test_the_numbers_are_those_of_the_code(code: str) -> None:
    assert [int(number.replace(",", "")) for number in re.split(r"[;,] ", SHOWN[code])] == NUMBERS[code]
