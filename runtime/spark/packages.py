"""The packages of Python that connectors need beside Penstock's own."""

from __future__ import annotations

from importlib.util import find_spec

from penstock.codegen import connector_options
from penstock.diagnostics.codes.running import R067
from penstock.runtime.failure.errors import RunError

PACKAGES: dict[str, dict[str, str]] = {
    name: {module: package for module, package in needed.items() if package}
    for name, needed in connector_options.PACKAGES.items()
}
"""By connector: the modules that it needs, and what pip installs them from."""


def check_packages(connector: str) -> None:
    """Raises RunError if a package that the connector needs is not installed."""
    missing = {module: package for module, package in PACKAGES.get(connector, {}).items() if find_spec(module) is None}
    if missing:
        finding = R067.at(None, connector=connector, packages=", ".join(missing))
        raise RunError([finding.with_hint(f"pip install {' '.join(missing.values())}")])
