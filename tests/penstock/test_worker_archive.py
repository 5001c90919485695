"""The archive for workers has what they need, and starts a Python that finds it."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import CliRunner

from penstock.commands import worker_archive
from penstock.commands.cli import main


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workers")
    written = CliRunner().invoke(main, ["package", str(folder / "workers.tar.gz")])
    assert written.exit_code == 0, written.output
    assert f"duckdb {version('duckdb')}" in written.output
    with tarfile.open(folder / "workers.tar.gz") as archive:
        archive.extractall(folder / "penstock", filter="data")
    return folder / "penstock"


def test_its_python_finds_its_packages_alone(unpacked: Path) -> None:
    ask = "import duckdb, pandas, pyarrow; print(duckdb.sql('SELECT 1').fetchall(), duckdb.__file__, pyarrow.__file__)"
    base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    environment = {"PENSTOCK_PYTHON": str(base), "PATH": "/usr/bin:/bin"}
    ran = subprocess.run(
        [str(unpacked / "bin" / "python"), "-s", "-c", ask],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split(" ")[0] == "[(1,)]"
    assert ran.stdout.count(str(unpacked / "lib")) == 2


def test_it_leaves_out_pyspark_and_the_environment(unpacked: Path) -> None:
    names = {each.name for each in (unpacked / "lib").iterdir()}
    assert {"duckdb", "pyarrow", "pandas", "numpy"} <= names
    assert not names & {"pyspark", "penstock", "pytest"}
    assert [each.name for each in (unpacked / "bin").iterdir()] == ["python"]


def test_a_package_that_is_missing_here_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_archive, "NEEDED", ("nowhere-to-be-found",))
    refused = CliRunner().invoke(main, ["package", str(tmp_path / "a.tar.gz")])
    assert refused.exit_code == 1
    assert "nowhere-to-be-found is not installed here: " in refused.output
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    refused = CliRunner().invoke(main, ["package", str(tmp_path / "nowhere" / "a.tar.gz")])
    assert refused.exit_code == 2
    assert "cannot be written: no such file or directory" in refused.output
