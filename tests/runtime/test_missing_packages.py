"""Packages that a connector needs and that are not installed."""

from __future__ import annotations

import tomllib
from importlib.machinery import ModuleSpec
from importlib.util import find_spec

import pytest

from penstock.runtime import RunError, connectors
from penstock.runtime.spark import packages
from tests.house.files import ROOT


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_others(name: str) -> ModuleSpec | None:
        return None if name in ("psycopg", "tenacity") else find_spec(name)

    monkeypatch.setattr(packages, "find_spec", find_others)
    with pytest.raises(RunError) as refused:
        connectors.connector_of("postgres")
    (finding,) = refused.value.diagnostics
    assert finding.code == "R067"
    assert finding.hint == "pip install tenacity 'psycopg[binary]'"
    assert connectors.connector_of("files").sink is not None


def test_the_extras_install_them() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for name, needed in packages.PACKAGES.items():
        installed = [each.partition(">")[0] for each in extras[name]]
        assert sorted(installed) == sorted(package.strip("'") for package in needed.values())
