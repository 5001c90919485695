"""The word that was probably meant."""

from __future__ import annotations

import pytest

from penstock.diagnostics import nearest


@pytest.mark.parametrize(
    ("word", "candidates", "expected"),
    [
        ("prodct", ["product", "price"], "product"),
        ("PRODCT", ["Product"], "Product"),
        ("xyz", ["product"], None),
        ("a", [], None),
    ],
)
def test_nearest(word: str, candidates: list[str], expected: str | None) -> None:
    assert nearest(word, candidates) == expected
