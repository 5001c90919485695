"""Every code has its place: a constant in its family's file, an entry in the catalog, a page."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

from penstock.diagnostics import Code, codes
from penstock.diagnostics.all_codes import CATALOG

PAGES = Path(__file__).parents[2] / "docs" / "errors"

FAMILIES = {
    "building": "B",
    "connectors": "C",
    "event_time": "W",
    "expression_types": "T",
    "joins": "J",
    "kinds": "K",
    "limits": "L",
    "names": "N",
    "partitions": "P",
    "running": "R",
    "server": "V",
    "syntax": "S",
    "testing": "T1",
}


def constants(family: str) -> dict[str, Code]:
    module = import_module(f"{codes.__name__}.{family}")
    return {name: value for name, value in vars(module).items() if isinstance(value, Code)}


def test_families_are_those_on_disk() -> None:
    assert sorted(FAMILIES) == sorted(module.name for module in pkgutil.iter_modules(codes.__path__))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_code_stands_in_its_family(family: str) -> None:
    found = constants(family).values()
    assert [
        code.id for code in found if not re.fullmatch(FAMILIES[family] + r"\d+", code.id) or len(code.id) != 4
    ] == []


def test_every_constant_is_in_the_catalog_once() -> None:
    defined = [code.id for family in FAMILIES for code in constants(family).values()]
    assert sorted(code.id for code in CATALOG) == sorted(defined)
    assert len(set(defined)) == len(defined)


@pytest.mark.parametrize("code", CATALOG, ids=lambda code: code.id)
def test_messages_are_lowercase_facts_on_one_line(code: Code) -> None:
    assert not code.message.endswith((".", "!"))
    assert "\n" not in code.message
    first = code.message.split()[0]
    assert first == first.lower() or first.isupper() or first.startswith(("{", "KS", "KT", "WT")), code.message


@pytest.mark.parametrize("code", CATALOG, ids=lambda code: code.id)
def test_every_code_has_a_page_with_its_message_as_title(code: Code) -> None:
    page = PAGES / f"{code.id}.md"
    assert page.read_text(encoding="utf-8").splitlines()[0] == f"# {code.id}: {code.message}"


def test_every_page_has_a_code() -> None:
    assert {page.stem for page in PAGES.glob("*.md")} - {"README"} == {code.id for code in CATALOG}
