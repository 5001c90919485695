"""docs/serve.md says how clients connect: with strings that are right, of versions that were tried."""

from __future__ import annotations

import re
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.house.files import ROOT

SECTION = re.compile(r"<!-- clients -->\n(.*?)<!-- end -->", re.DOTALL)
ROW = re.compile(r"^\| (?P<name>[\w-]+) \| (?P<version>[\d.]+) \| `(?P<code>.*)` \|$", re.MULTILINE)
STRING = re.compile(r'(?:jdbc:)?(?P<url>postgresql(?:\+\w+)?://[^"]+)|"(?P<words>host=[^"]+)"')
PINS = ("requirements.lock", "tests/server/clients/install.py", "tests/server/clients/superset.txt")
PLACE = {"host": "db.example.com", "port": "5433", "dbname": "penstock", "user": "ada"}


def rows() -> list[re.Match[str]]:
    section = SECTION.search((ROOT / "docs" / "serve.md").read_text(encoding="utf-8"))
    assert section
    found = list(ROW.finditer(section[1]))
    assert len(found) == len(section[1].splitlines()) - 2
    return found


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["name"])
def test_a_string_names_the_place(row: re.Match[str]) -> None:
    if row["name"] == "psqlODBC":
        pairs = dict(pair.split("=") for pair in row["code"].split(";"))
        found: dict[str, Any] = {
            "host": pairs["Server"],
            "port": pairs["Port"],
            "dbname": pairs["Database"],
            "user": pairs["UID"],
        }
    else:
        string = STRING.search(row["code"])
        assert string
        found = conninfo_to_dict(re.sub(r"\+\w+", "", string["url"] or string["words"], count=1))
    assert {name: found[name] for name in PLACE} == PLACE
    assert row["name"] == "node-postgres" or "sslmode=require" in row["code"].lower()


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["name"])
def test_a_version_is_that_of_the_tests(row: re.Match[str]) -> None:
    pins = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in PINS)
    assert row["name"] == "psql" or re.search(rf"[=@:]{re.escape(row['version'])}(?![\d.]*\d)", pins)
