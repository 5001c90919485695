"""Offsets -> lines and columns."""

from __future__ import annotations

import pytest

from penstock.diagnostics import Source


@pytest.mark.parametrize(
    ("text", "offset", "position"),
    [
        ("", 0, (1, 1)),
        ("ab", 2, (1, 3)),
        ("a\nb", 1, (1, 2)),
        ("a\nb", 2, (2, 1)),
        ("a\n", 2, (2, 1)),
        ("水x", 1, (1, 2)),
    ],
)
def test_position_is_one_based_and_counts_characters(text: str, offset: int, position: tuple[int, int]) -> None:
    assert Source("q.sql", text).position(offset) == position


def test_lines_come_without_their_breaks() -> None:
    source = Source("q.sql", "one\r\ntwo\n")
    assert [source.line(number) for number in (1, 2, 3)] == ["one", "two", ""]
