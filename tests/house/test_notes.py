"""Each room has a page NOTES.md, which is short and names files that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.house.files import ROOT, find_files, list_files
from tests.house.test_imports import BELOW

ROOMS = tuple(BELOW)
NOTES = "NOTES.md"
MOST_LINES = 60
FOLDERS = {*ROOMS, "bench", "docs", "examples", "tests"}
NAMED = re.compile(r"`([\w.*/-]+)`")
FILE = re.compile(r"[\w*-][\w.*-]*\.(?:css|html|js|json|lark|md|py|sql|toml|txt)")


def list_paths(text: str, room: str) -> list[str]:
    """What stands in backquotes and looks like a file or a folder of the repository, with `*` for any characters."""
    names = NAMED.findall(text)
    return [name for name in names if FILE.fullmatch(name.rpartition("/")[2]) or is_path(name, room)]


def is_path(name: str, room: str) -> bool:
    """Whether a name without a suffix of files is a path: it ends as folders do, or begins with one that is there."""
    first, slash, _ = name.partition("/")
    return name.endswith("/") or (slash != "" and (first in FOLDERS or (ROOT / room / first).is_dir()))


def is_there(name: str, room: str) -> bool:
    """Whether the path is in the repository, as seen from its top or from the room. A bare name may lie deeper."""
    if "*" not in name:
        places = [ROOT / name, ROOT / room / name]
        if any(place.exists() for place in places):
            return True
    pattern = name.rstrip("/")
    files = [path.relative_to(ROOT) for path in find_files(ROOT)]
    inside = [path.relative_to(room) for path in files if path.is_relative_to(room)]
    if "/" not in pattern:
        return any(path.match(pattern) for path in inside)
    return any(Path(path).match(pattern) for path in (*files, *inside))


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_has_notes_of_one_page(room: str) -> None:
    lines = (ROOT / room / NOTES).read_text(encoding="utf-8").splitlines()
    assert lines[0] == f"# {room}"
    assert len(lines) <= MOST_LINES


@pytest.mark.parametrize("room", ROOMS)
def test_notes_name_files_that_exist(room: str) -> None:
    paths = list_paths((ROOT / room / NOTES).read_text(encoding="utf-8"), room)
    assert len(paths) > 10
    assert [path for path in paths if not is_there(path, room)] == []


def test_notes_lie_in_rooms_alone() -> None:
    """The language of these is checked, and they are left out of the wheel."""
    assert {path.relative_to(ROOT).parts for path in list_files(ROOT, ".md") if path.name == NOTES} == {
        (room, NOTES) for room in ROOMS
    }


@pytest.mark.parametrize(
    "name", ["kit/files/", "files/", "worker/", "docs/attic.md", "attic.py", "attic_*.py", "kit/attic", "files/attic"]
)
def test_paths_are_found(name: str) -> None:
    assert list_paths(f"see `{name}`, and", "kit") == [name]
    assert is_there(name, "kit") == ("attic" not in name)


@pytest.mark.parametrize(
    "text", ["`sys.modules`", "`ENV('A')`", "`a / b`", "`_views`", "`exp.In`", "`JSON/CSV`", "kit/a.py"]
)
def test_other_words_are_no_paths(text: str) -> None:
    assert list_paths(text, "kit") == []
