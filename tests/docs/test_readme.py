"""README.md is right: its script gives the rows shown, and is refused as shown without the bound of its join."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from penstock import CompileError, compile
from penstock.diagnostics import render
from tests.e2e.shell import penstock_here

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
BOUND = " AND p.time BETWEEN o.time AND o.time + INTERVAL '5' MINUTE"
SHOWN = re.compile(r"(?<=```text\n).*?(?=\n```)", re.DOTALL)


def script() -> str:
    block = re.search(r"```sql\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert block
    return block[1]


def test_the_script_is_accepted() -> None:
    assert len(compile(script()).queries) == 2


def test_the_error_shown_is_that_of_the_script_without_its_bound(request: pytest.FixtureRequest) -> None:
    assert BOUND in script()
    with pytest.raises(CompileError) as refusal:
        compile(script().replace(BOUND, ""), name="orders.sql")
    (finding,) = refusal.value.diagnostics
    page = README.read_text(encoding="utf-8")
    expected, blocks = SHOWN.subn(lambda _: render(finding), page, count=1)
    assert blocks == 1
    if request.config.getoption("--accept"):
        README.write_text(expected, encoding="utf-8")
    assert README.read_text(encoding="utf-8") == expected


def lines(text: str) -> list[str]:
    """What a command prints, without blanks at the ends of lines, and sorted: streams have no order."""
    return sorted(line.rstrip() for line in text.splitlines() if line.strip())


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_the_commands_print_what_is_shown(tmp_path: Path) -> None:
    page = README.read_text(encoding="utf-8")
    (data,) = re.findall(r"```sh\n(mkdir .*?)```", page, re.DOTALL)
    subprocess.run(["sh"], input=data, cwd=tmp_path, text=True, check=True)
    (tmp_path / "orders.sql").write_text(script(), encoding="utf-8")
    (session,) = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    for shown in session.split("$ penstock ")[1:]:
        command, _, output = shown.partition("\n")
        ended = penstock_here(tmp_path, *shlex.split(command))
        assert ended.exit_code == 0, ended.output
        assert lines(ended.stdout) == lines(output)


def test_the_figures_are_those_measured() -> None:
    figures = re.findall(r"\d+ k\b", README.read_text(encoding="utf-8"))
    assert len(figures) > 5
    measured = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    assert [figure for figure in figures if not re.search(rf"\b{figure}\b", measured)] == []


FILES = re.compile(r"`((?:grammar|diagnostics|parser|planner|codegen|runtime|penstock|tests|docs)/[\w/.]*)`")


def test_the_recipes_name_files_that_exist() -> None:
    named = FILES.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists()] == []
