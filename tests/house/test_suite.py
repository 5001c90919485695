"""The lines of `tests/slow.txt` are read as they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import suite
from tests.suite import Tier


@pytest.mark.parametrize(
    ("test", "tier"),
    [
        ("tests/a.py::t", Tier.SLOW),
        ("tests/a.py::t[1]", Tier.SLOW),
        ("tests/a.py::t[2]", Tier.QUICK),
        ("tests/a.py::u", Tier.CAMPAIGN),
        ("tests/a.py::u[1]", Tier.CAMPAIGN),
        ("tests/b.py::u", Tier.QUICK),
        ("tests/a.pyx::t", Tier.QUICK),
    ],
)
def test_the_longest_line_decides(test: str, tier: Tier, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "slow.txt").write_text("# A comment\n\ntests/a.py\n+ tests/a.py::t[2]\n! tests/a.py::u\n")
    monkeypatch.setattr(suite, "FILE", tmp_path / "slow.txt")
    monkeypatch.setattr(suite, "read_lines", suite.read_lines.__wrapped__)
    assert suite.find_tier(test) is tier
    assert suite.find_unused([test]) == sorted(
        {"tests/a.py", "tests/a.py::t[2]", "tests/a.py::u"} - {suite.find_line(test)}
    )
