"""docs/testing.md is right: its files give what its commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from penstock.commands.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```(sql|console)\n(.*?)```", re.DOTALL)
SECONDS = re.compile(r"in \d+\.\d\d s")


def test_the_commands_print_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = 0
    for kind, text in BLOCK.findall(PAGE):
        if kind == "sql":
            head, _, _ = text.partition("\n")
            Path(head.removeprefix("-- ")).write_text(text, encoding="utf-8")
            continue
        call, _, shown = text.partition("\n")
        run = CliRunner().invoke(main, shlex.split(call.removeprefix("$ penstock ")), catch_exceptions=False)
        assert SECONDS.sub("", run.output) == SECONDS.sub("", shown)
        commands += 1
    assert commands == 4


def test_the_case_in_python_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("orders.sql").write_text(BLOCK.findall(PAGE)[0][1], encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    names["test_an_order_without_a_payment"]()
    exec(code.replace("NULL", "40"), names)
    with pytest.raises(AssertionError):
        names["test_an_order_without_a_payment"]()


@pytest.mark.parametrize("statement", re.findall(r"^\| `((?:GIVEN|THEN) [^`]*)` \|", PAGE, re.MULTILINE))
def test_the_statements_of_the_tables_are_in_order(statement: str, tmp_path: Path) -> None:
    (tmp_path / "a_test.sql").write_text(statement + ";\n", encoding="utf-8")
    assert CliRunner().invoke(main, ["fmt", "--check", str(tmp_path / "a_test.sql")]).exit_code == 0


def test_the_test_of_the_readme_passes(tmp_path: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (script, *_), (test,) = (
        re.findall(pattern, readme, re.DOTALL) for pattern in (r"```sql\n(.*?)```", r"```text\n(TEST .*?)```")
    )
    (tmp_path / "orders.sql").write_text(script, encoding="utf-8")
    for text, code in ((test, 0), (test.replace("'5:00'", "'5:01'"), 1)):
        (tmp_path / "orders_test.sql").write_text(text, encoding="utf-8")
        assert CliRunner().invoke(main, ["test", str(tmp_path)]).exit_code == code


EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*_test.sql"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_the_tests_of_the_examples_pass(file: Path) -> None:
    assert len(EXAMPLES) > 3
    run = CliRunner().invoke(main, ["test", str(file)], catch_exceptions=False)
    assert run.exit_code == 0, run.output
    assert CliRunner().invoke(main, ["fmt", "--check", str(file)]).exit_code == 0, "penstock fmt lays it out otherwise"
