"""Each hint that is SQL is pasted: the script compiles, or has another problem. Prose says so by its type.

`PENSTOCK_HINTS` sets the number of scripts that are broken by chance.
"""

from __future__ import annotations

import os
from functools import cache

import pytest

from tests.conformance.spellings.cases import FOLDER, PRELUDE, read_file
from tests.properties.hints import find_errors, judge
from tests.properties.mutations import Mutations, scripts

pytestmark = pytest.mark.draws
BROKEN = int(os.environ.get("PENSTOCK_HINTS", "64"))
PARTS = 8


@cache
def known_scripts() -> list[str]:
    """Golden cases, pages of errors, examples, and statements of other systems."""
    prelude = PRELUDE.read_text(encoding="utf-8")
    files = sorted(each for each in FOLDER.glob("*/*.sql"))
    return [*scripts(), *(f"{prelude}\n{each.sql}" for file in files for each in read_file(file))]


def judge_all(texts: list[str]) -> list[str]:
    found: dict[str, str] = {}
    for sql in texts:
        for finding in find_errors(sql):
            wrong = judge(sql, finding)
            if wrong is not None:
                found.setdefault(wrong, f"{wrong}\n{sql[-600:]}")
    return [*found.values()]


@pytest.mark.parametrize("part", range(PARTS))
def test_hints_of_known_scripts(part: int) -> None:
    assert judge_all(known_scripts()[part::PARTS]) == []


@pytest.mark.parametrize("seed", range(PARTS))
def test_hints_of_slips(seed: int) -> None:
    mutations = Mutations(2_000 + seed)
    assert judge_all([mutations.slip() for _ in range(BROKEN // PARTS)]) == []


@pytest.mark.parametrize("seed", range(PARTS))
def test_hints_of_broken_scripts(seed: int) -> None:
    mutations = Mutations(1_000 + seed)
    assert judge_all([mutations.text() for _ in range(BROKEN // PARTS)]) == []
