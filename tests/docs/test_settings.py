"""docs/settings.md lists every setting with its default."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from penstock import CompileError, compile
from penstock.planner.durations import duration_text
from penstock.planner.plan import Settings
from penstock.planner.script.read_options import SETTINGS
from tests.house.files import ROOT

PAGE = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (?P<name>[a-z_]+) \| (?P<takes>.*?) \| (?P<default>.*?) ?\| (?P<meaning>.*) \|$", re.MULTILINE)
FIELDS = {"on_row_error": "rejects_failing", "trigger": "real_time"}
WORDS = {"auto": None, "fail": False, "micro_batch": False, "ON": True, "OFF": False}


class Setting(NamedTuple):
    name: str
    takes: str
    default: str


_, *ROWS = [Setting(row["name"], row["takes"], row["default"].strip("`'")) for row in ROW.finditer(PAGE)]


def test_the_page_lists_the_settings() -> None:
    assert [row.name for row in ROWS] == [name for name, _ in SETTINGS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_default_is_that_of_a_script(row: Setting) -> None:
    value = getattr(Settings(), FIELDS.get(row.name, row.name))
    if row.takes == "interval":
        assert row.default == duration_text(value)
    elif row.default in WORDS:
        assert value is WORDS[row.default]
    else:
        assert row.default == ("" if value is None else str(value))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_values_that_it_takes_are_accepted(row: Setting) -> None:
    kinds = {"whole number": ["8"], "interval": ["10 SECONDS"]}
    for value in kinds.get(row.takes) or row.takes.replace("`", "").split(", "):
        assert compile(f"SET {row.name} = {value};") is not None
    with pytest.raises(CompileError):
        compile(f"SET {row.name} = 'nonsense';")
