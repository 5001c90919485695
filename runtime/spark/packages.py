"""The packages of Python that connectors need beside Penstock's own."""

from __future__ import annotations

from importlib.util import find_spec

from penstock.diagnostics.codes.running import R067
from penstock.runtime.failure.errors import RunError

_SHARED = {"sqlalchemy": "sqlalchemy", "tenacity": "tenacity"}
PACKAGES: dict[str, dict[str, str]] = {
    "postgres": _SHARED | {"psycopg": "'psycopg[binary]'"},
    "sqlite": _SHARED,
    "duckdb": _SHARED | {"duckdb_engine": "duckdb-engine"},
    "delta": {"deltalake": "deltalake", "tenacity": "tenacity"},
    "kafka": {"confluent_kafka": "confluent-kafka", "fastavro": "fastavro"},
}
"""By connector: the modules that it needs, and what pip installs them from."""


def check_packages(connector: str) -> None:
    """Raises RunError if a package that the connector needs is not installed."""
    missing = {module: package for module, package in PACKAGES.get(connector, {}).items() if find_spec(module) is None}
    if missing:
        finding = R067.at(None, connector=connector, packages=", ".join(missing))
        raise RunError([finding.with_hint(f"pip install {' '.join(missing.values())}")])
