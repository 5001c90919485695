"""docs/tutorial.md is right: its files are accepted, and its commands print what is shown."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from penstock import compile
from tests.e2e.shell import penstock_here
from tests.house.files import ROOT
from tests.server.served import ServedProcess, wait_for

PAGE = ROOT / "docs" / "tutorial.md"
SCRIPT = re.compile(r"`(?P<name>\w+\.sql)`[^`]*?:\n\n```sql\n(?P<text>.*?)```", re.DOTALL)
BLOCK = re.compile(r"^```(?P<language>sh|console|psql)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
SERVER = "## 4. A server"
SETTLED_SECONDS = 15


class Step(NamedTuple):
    command: str
    output: str


def read_scripts() -> dict[str, str]:
    return {script["name"]: script["text"] for script in SCRIPT.finditer(PAGE.read_text(encoding="utf-8"))}


def list_steps(block: str, prompt: str) -> Iterator[Step]:
    """What is typed in a block, and what is shown below it."""
    for part in re.split(rf"^{re.escape(prompt)}", block, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        size = next((number for number, line in enumerate(lines, 1) if prompt == "$ " or line.endswith(";")), 1)
        yield Step("\n".join(lines[:size]), "\n".join(lines[size:]).strip("\n"))


def run_shell(folder: Path, text: str) -> None:
    subprocess.run(["bash", "-c", text], cwd=folder, check=True)


def sort_lines(text: str) -> list[str]:
    """Rows of one micro-batch are printed in any order."""
    return sorted(line.rstrip() for line in text.splitlines() if line.strip())


def replace_text(old: str, new: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert old in page
    PAGE.write_text(page.replace(old, new, 1), encoding="utf-8")


def show_block(language: str, prompt: str, steps: list[Step]) -> str:
    shown = [f"{prompt}{step.command}\n{step.output}".rstrip() + "\n" for step in steps]
    return f"```{language}\n{''.join(shown)}```"


@pytest.mark.parametrize("name", ["hourly.sql", "live.sql"])
def test_the_scripts_are_accepted(name: str) -> None:
    scripts = read_scripts()
    assert [*scripts] == ["orders.sql", "hourly.sql", "live.sql"]
    assert compile(scripts["orders.sql"] + scripts[name]).queries


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_the_commands_print_what_is_shown(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    is_accepted = request.config.getoption("--accept")
    for name, text in read_scripts().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    first, _, _ = PAGE.read_text(encoding="utf-8").partition(SERVER)
    for block in BLOCK.finditer(first):
        if block["language"] == "sh":
            run_shell(tmp_path, block["text"])
            continue
        printed: list[Step] = []
        for step in list_steps(block["text"], "$ "):
            ended = penstock_here(tmp_path, *shlex.split(step.command)[1:])
            assert ended.exit_code == 0, ended.output
            printed.append(Step(step.command, "\n".join(line.rstrip() for line in ended.stdout.strip().splitlines())))
            assert is_accepted or sort_lines(ended.stdout) == sort_lines(step.output)
        if is_accepted:
            replace_text(block[0], show_block("console", "$ ", printed))


def ask_server(address: str, statement: str) -> str:
    """What psql prints."""
    command = ["psql", address, "--no-psqlrc", "--pset=pager=off", "-c", statement]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return "\n".join(line.rstrip() for line in (ended.stdout + ended.stderr).splitlines()).strip("\n")


def read_answer(address: str, step: Step, is_accepted: bool) -> str:
    """The answer to a statement. A SELECT is asked until it answers as shown, or the same twice."""
    statement = re.sub(r"^penstock-> ", "", step.command, flags=re.MULTILINE)
    if not statement.startswith("SELECT"):
        return ask_server(address, statement)
    if not is_accepted:
        return str(wait_for(lambda: (answer := ask_server(address, statement)) == step.output and answer, step.output))
    before, answer = "", ask_server(address, statement)
    while answer != before or answer.startswith("ERROR") or "(0 rows)" in answer:
        time.sleep(SETTLED_SECONDS)
        before, answer = answer, ask_server(address, statement)
    return answer


@pytest.mark.spark
@pytest.mark.skipif(not shutil.which("psql"), reason="apt-get install postgresql-client")
def test_the_server_answers_as_shown(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    tmp_path.chmod(0o755)  # PostgreSQL has a user of its own
    is_accepted = request.config.getoption("--accept")
    first, _, rest = PAGE.read_text(encoding="utf-8").partition(SERVER)
    for block in BLOCK.finditer(first):
        if block["language"] == "sh":
            run_shell(tmp_path, block["text"])
    for name, text in read_scripts().items():  # the folder of this process is another one
        (tmp_path / name).write_text(text.replace("'orders'", f"'{tmp_path}/orders'"), encoding="utf-8")
    with ServedProcess(tmp_path / "state", tmp_path / "orders.sql", tmp_path / "live.sql") as served:
        served.wait_until_ready()
        address = served.find(r'psql "(.*)"')
        for block in BLOCK.finditer(rest):
            if block["language"] == "sh":
                run_shell(tmp_path, block["text"])
                continue
            steps = list(list_steps(block["text"], "penstock=> "))
            answered = [Step(step.command, read_answer(address, step, is_accepted)) for step in steps]
            if is_accepted:
                replace_text(block[0], show_block("psql", "penstock=> ", answered))
            else:
                assert answered == steps
        with served.client() as http:
            assert http.get("/").status_code == 200
            assert http.get("/v1/tables/sales").json()["rows"]
        assert served.stop() == 0
