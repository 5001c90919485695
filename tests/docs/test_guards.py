"""docs/guards.md names tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES = [line for line in (ROOT / "docs" / "guards.md").read_text(encoding="utf-8").splitlines() if "`tests/" in line]
NAMED = sorted({name for line in LINES for name in re.findall(r"`(tests/[^`]+)`", line)})


@pytest.mark.parametrize("name", NAMED)
def test_the_test_exists(name: str) -> None:
    path, _, function = name.partition("::")
    text = (ROOT / path).read_text(encoding="utf-8")
    assert not function or f"\ndef {function}(" in text


def test_every_trap_has_a_guard_and_a_test() -> None:
    rows = [line.split(" | ") for line in LINES if line.startswith("| ")]
    assert len(rows) > 20
    assert all(len(row) == 3 and "`tests/" in row[2] for row in rows)
