"""The error pages are right: what they call refused is, with their code alone; what they call accepted is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import penstock
from penstock.diagnostics import Source
from penstock.diagnostics.all_codes import CATALOG
from penstock.testing.run_case import run_source

PAGES = Path(__file__).parents[2] / "docs" / "errors"
SECTION = re.compile(r"^## (Script|Refused|Warned|Accepted)\n+```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDEX_HEAD = """# Every code

A code names one kind of error or warning forever. Its page says what is wrong, why Penstock refuses it and how to
repair it. Most pages have a script that is refused and one that is accepted. In the messages, `{…}` stands for what
was found.

| code | severity | message |
|---|---|---|"""
OF_TESTS = [
    code.id for code in CATALOG if code.id.startswith("T1") and code.id not in ("T115", "T116", "T117")
]  # which no script shows
CODES = [code for code in CATALOG if code.id[0] not in "RV" and not code.id.startswith("T1")]


def script(code: str, section: str) -> str:
    """The SQL block under a heading of a code's page."""
    blocks: dict[str, str] = dict(SECTION.findall((PAGES / f"{code}.md").read_text(encoding="utf-8")))
    assert section in blocks, f"{code}.md has no section {section} with a script"
    return blocks[section]


@pytest.mark.parametrize("code", [code.id for code in CODES if code.severity == "error"])
def test_the_refused_script_is_refused_with_this_code_alone(code: str) -> None:
    with pytest.raises(penstock.CompileError) as refusal:
        penstock.compile(script(code, "Refused"))
    errors = [finding for finding in refusal.value.diagnostics if finding.severity == "error"]
    assert {finding.code for finding in errors} == {code}
    assert all(finding.labels for finding in errors)


@pytest.mark.parametrize("code", [code.id for code in CODES if code.severity == "warning"])
def test_the_script_warned_about_is_accepted_with_this_warning(code: str) -> None:
    assert code in {finding.code for finding in penstock.compile(script(code, "Warned")).diagnostics}


@pytest.mark.parametrize("code", [code.id for code in CODES])
def test_the_accepted_script_is_accepted_without_this_code(code: str) -> None:
    assert code not in {finding.code for finding in penstock.compile(script(code, "Accepted")).diagnostics}


@pytest.mark.parametrize("code", OF_TESTS)
@pytest.mark.parametrize("section", ["Refused", "Accepted"])
def test_tests_fail_and_pass(code: str, section: str, tmp_path: Path) -> None:
    (tmp_path / "shop.sql").write_text(script(code, "Script"), encoding="utf-8")
    try:
        (result,) = run_source(Source("shop_test.sql", script(code, section)), tmp_path)
        found = {each.code for each in result.findings}
    except penstock.CompileError as refusal:
        found = {each.code for each in refusal.diagnostics}
    assert found == ({code} if section == "Refused" else set())


def test_the_index_lists_every_page(request: pytest.FixtureRequest) -> None:
    rows = [f"| [{code.id}]({code.id}.md) | {code.severity} | {code.message} |" for code in CATALOG]
    index = "\n".join([INDEX_HEAD, *rows, ""])
    if request.config.getoption("--accept"):
        (PAGES / "README.md").write_text(index, encoding="utf-8")
    assert (PAGES / "README.md").read_text(encoding="utf-8") == index
