"""The lines of `tests/slow.txt` are read as they say."""

from __future__ import annotations

import pytest

from tests import suite


@pytest.mark.parametrize(
    ("test", "slow"),
    [
        ("tests/a.py::t", True),
        ("tests/a.py::t[1]", True),
        ("tests/a.py::t[2]", False),
        ("tests/a.py::u", False),
        ("tests/b.py::u", False),
        ("tests/a.pyx::t", False),
    ],
)
def test_the_longest_line_decides(test: str, slow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        suite, "read_lines", lambda: {"tests/a.py": True, "tests/a.py::t[2]": False, "tests/a.py::u": False}
    )
    assert suite.is_slow(test) is slow
    assert suite.find_unused([test]) == sorted(
        {"tests/a.py", "tests/a.py::t[2]", "tests/a.py::u"} - {suite.find_line(test)}
    )
