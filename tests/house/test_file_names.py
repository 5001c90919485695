"""A module's name says what it holds, and no module of another room has it. So an editor's search finds one file.

Modules of a connector are called as the connector in each room: the runtime finds them so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from penstock.planner.connectors import CONNECTORS, INTERNAL
from tests.house.files import ROOT, list_files
from tests.house.test_imports import BELOW

OF_CONNECTORS = {each.name for each in (*CONNECTORS, *INTERNAL)}
FOLDERS_OF_CONNECTORS = ("codegen/connectors", "kit", "planner/connectors", "runtime/connectors")


def is_of_connector(path: Path) -> bool:
    return path.stem in OF_CONNECTORS and any(path.is_relative_to(folder) for folder in FOLDERS_OF_CONNECTORS)


def find_repeated(paths: Iterable[Path]) -> dict[str, list[str]]:
    """The names that modules of several rooms have, with these modules."""
    modules: dict[str, list[Path]] = defaultdict(list)
    for path in paths:
        if not path.stem.startswith("__") and not is_of_connector(path):
            modules[path.stem].append(path)
    return {
        stem: [str(path) for path in found]
        for stem, found in modules.items()
        if len({path.parts[0] for path in found}) > 1
    }


def test_no_two_rooms_have_modules_of_one_name() -> None:
    paths = [path.relative_to(ROOT) for room in BELOW for path in list_files(ROOT / room, ".py")]
    assert len(paths) > 500
    assert find_repeated(paths) == {}


@pytest.mark.parametrize(
    ("one", "other", "is_repeated"),
    [
        ("planner/plan/statements.py", "server/http/statements.py", True),
        ("planner/connectors/kafka.py", "server/kafka.py", False),
        ("planner/lower/kafka.py", "server/kafka.py", True),
        ("planner/connectors/formats.py", "kit/formats.py", True),
        ("planner/connectors/kafka.py", "runtime/connectors/kafka.py", False),
        ("planner/plan/over.py", "planner/lower/over.py", False),
        ("planner/plan/__init__.py", "server/http/__init__.py", False),
    ],
)
def test_the_rule(one: str, other: str, is_repeated: bool) -> None:
    assert bool(find_repeated([Path(one), Path(other)])) == is_repeated
