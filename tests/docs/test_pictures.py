"""The pictures of docs/semantics/ are those that `tests/docs/pictures.py` draws, and pages show them."""

from __future__ import annotations

import pytest

from tests.docs.pictures import PICTURES, list_cumulated, list_hops, list_sessions
from tests.house.files import ROOT

FOLDER = ROOT / "docs" / "semantics"


@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_is_the_one_that_is_drawn(name: str, request: pytest.FixtureRequest) -> None:
    path = FOLDER / f"{name}.svg"
    if request.config.getoption("--accept"):
        path.write_text(PICTURES[name](), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == PICTURES[name]()


@pytest.mark.parametrize("name", PICTURES)
def test_a_page_shows_the_picture(name: str) -> None:
    assert any(f"]({name}.svg)" in path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md"))


def test_windows_are_those_of_the_rules() -> None:
    assert list_hops(20, 20, 60) == [(0, 20), (20, 40), (40, 60)]
    assert list_hops(20, 10, 40) == [(0, 20), (10, 30), (20, 40)]
    assert list_cumulated(10, 30, 30) == [(0, 10), (0, 20), (0, 30)]
    assert list_sessions([3, 13, 24], 10) == [(3, 23), (24, 34)]
