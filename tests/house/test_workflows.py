"""The workflows, the hooks and the package name the same versions, and call targets of `make` that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from penstock.codegen.spark_versions import SPARK_VERSIONS, number_text, read_number
from tests.house.files import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CHECK = ROOT / ".github" / "workflows" / "check.yml"
PYTHON_CLASSIFIER = re.compile(r"Programming Language :: Python :: (3\.\d+)")


def list_values(path: Path, name: str) -> list[str]:
    """The values of `name: ["a", "b"]` in a matrix."""
    lists = re.findall(rf"^ +{name}: \[(.*)\]$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return [value.strip('"') for each in lists for value in each.split(", ")]


def find_locked(package: str) -> str:
    locked = re.search(rf"^{package}==(\S+)", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)
    assert locked is not None
    return locked[1]


def list_classified() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [found[1] for each in project["classifiers"] if (found := PYTHON_CLASSIFIER.fullmatch(each))]


@pytest.mark.parametrize("name", ["check.yml", "release.yml"])
def test_each_python_that_the_package_names_is_tried(name: str) -> None:
    assert list_values(CHECK.with_name(name), "python") == list_classified()


def test_each_spark_that_penstock_runs_on_is_tried() -> None:
    tried = {read_number(find_locked("pyspark")), *map(read_number, list_values(CHECK, "spark"))}
    assert tried == set(SPARK_VERSIONS), [number_text(number) for number in SPARK_VERSIONS]


def test_the_hooks_have_the_ruff_of_the_lock_file() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"ruff-pre-commit\n    rev: v(\S+)", hooks) == [find_locked("ruff")]


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / ".pre-commit-config.yaml"], ids=lambda path: path.name)
def test_the_targets_that_are_called_exist(path: Path) -> None:
    called = re.findall(r"(?:run|entry): make (?:--\S+ )?([\w-]+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name in called if name not in targets] == []
