"""What is published holds all of Penstock: as a wheel, as a source distribution, and in an environment of its own."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

import penstock
from tests.docs.test_readme import BOUND, README, SHOWN, lines, script
from tests.house.files import ROOT, find_files
from tests.house.test_packages import ROOMS

ERROR_PAGES = Path("docs", "errors")
SOURCES = (*ROOMS, "penstock", ERROR_PAGES, "pyproject.toml", "README.md", "LICENSE")
"""What the build reads. Nothing that an earlier build has left is among it."""
NOTES = "NOTES.md"
"""The page of a room for who changes its code. No install has it."""
VENDOR = Path("server", "http", "vendor")
"""What builds the libraries of the console. An install has what comes out."""
THIS_SESSION = ("PYTHONPATH", "JAVA_TOOL_OPTIONS", "PYSPARK_SUBMIT_ARGS", "SPARK_HOME", "VIRTUAL_ENV")
"""Variables of the environment with which these tests run, or whoever started them."""


def list_sources() -> Iterator[Path]:
    """Files of the project, relative to its folder; links are files, too."""
    paths = (path.relative_to(ROOT) for path in find_files(ROOT))
    yield from (path for path in paths if any(path.is_relative_to(source) for source in SOURCES))


def list_expected() -> Iterator[str]:
    """The names in a wheel: the rooms below `penstock` without notes, and the pages of errors that the server shows."""
    for path in list_sources():
        if path.is_relative_to(ERROR_PAGES):
            yield f"penstock/server/http/errors/{path.name}"
        elif path.is_relative_to(VENDOR):
            continue
        elif len(path.parts) > 1 and path.name != NOTES and not (ROOT / path).is_symlink():
            yield path.as_posix() if path.parts[0] == "penstock" else f"penstock/{path.as_posix()}"


def build(source: Path, folder: Path, *arguments: str) -> None:
    """`python -m build` with the setuptools of this environment, as the build requirements are locked."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), *arguments, str(source)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr


def read_wheel(folder: Path) -> dict[str, bytes]:
    """The files in the wheel of a folder."""
    (path,) = folder.glob("*.whl")
    with ZipFile(path) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist()}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the build reads, because the build leaves files beside its sources."""
    folder = tmp_path_factory.mktemp("source")
    for path in list_sources():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, folder / path, follow_symlinks=False)
    return folder


@pytest.fixture(scope="module")
def distributions(source: Path) -> Path:
    """The folder with the source distribution, and the wheel that is built from it."""
    folder = source.with_name(f"{source.name}-distributions")
    build(source, folder)
    return folder


def test_the_wheel_holds_every_module_and_all_data(distributions: Path) -> None:
    names = {name for name in read_wheel(distributions) if ".dist-info/" not in name}
    expected = set(list_expected())
    assert {"penstock/grammar/tables.json", "penstock/py.typed", "penstock/server/http/errors/J001.md"} <= expected
    assert names == expected


def test_the_wheel_says_what_it_is(distributions: Path) -> None:
    wheel = read_wheel(distributions)
    (metadata,) = (content.decode() for name, content in wheel.items() if name.endswith(".dist-info/METADATA"))
    head, _, description = metadata.partition("\n\n")
    fields = [tuple(line.split(": ", 1)) for line in head.splitlines() if not line.startswith(" ")]
    assert {("Name", "penstock"), ("License-Expression", "Apache-2.0"), ("License-File", "LICENSE")} <= set(fields)
    assert ("Description-Content-Type", "text/markdown") in fields
    assert description.strip() == README.read_text(encoding="utf-8").strip()
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in wheel)
    assert [name for name in wheel if name.endswith("/entry_points.txt")] != []


def test_the_source_distribution_builds_the_wheel_of_the_sources(source: Path, distributions: Path) -> None:
    folder = distributions.with_name(f"{distributions.name}-wheel")
    build(source, folder, "--wheel")
    assert len(list(distributions.glob("*.tar.gz"))) == 1
    assert read_wheel(folder) == read_wheel(distributions)


@pytest.mark.campaign
@pytest.mark.spark
def test_the_installed_wheel_does_what_the_readme_shows(distributions: Path, tmp_path: Path) -> None:
    """Takes PySpark and the other packages from where pip finds them."""
    environment, home, work = (tmp_path / name for name in ("environment", "home", "work"))
    home.mkdir()
    work.mkdir()
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    (wheel,) = distributions.glob("*.whl")
    variables = {name: value for name, value in os.environ.items() if name not in THIS_SESSION}
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, str(wheel)], env=variables, check=True)
    own = {**variables, "HOME": str(home), "PATH": f"{environment / 'bin'}{os.pathsep}{variables['PATH']}"}

    def run(command: list[str], text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=work, env=own, input=text, capture_output=True, text=True, check=False, timeout=300
        )

    where = run(["python", "-c", "import penstock; print(penstock.__file__)"]).stdout.strip()
    assert Path(where).is_relative_to(environment)
    assert where != penstock.__file__

    page = README.read_text(encoding="utf-8")
    (refused,) = SHOWN.findall(page)[:1]
    (work / "orders.sql").write_text(script().replace(BOUND, ""), encoding="utf-8")
    ended = run(["penstock", "check", "orders.sql"])
    assert (ended.returncode, refused in ended.stdout + ended.stderr) == (1, True), ended

    (data,) = re.findall(r"```sh\n(mkdir .*?)```", page, re.DOTALL)
    assert run(["sh"], data).returncode == 0
    (work / "orders.sql").write_text(script(), encoding="utf-8")
    (session,) = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    for shown in session.split("$ ")[1:]:
        command, _, output = shown.partition("\n")
        ended = run(shlex.split(command))
        assert ended.returncode == 0, ended
        assert lines(ended.stdout) == lines(output)
