"""Penstock: streaming SQL for Apache Spark. `compile` checks a script, `connect` runs it.

Importing this package loads neither the compiler nor pyspark; both come with the first use of a name that needs them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.client import RemoteError, RemoteSession
    from penstock.compilation import Compilation, compile
    from penstock.connections import connect
    from penstock.diagnostics import CompileError, Diagnostic
    from penstock.planner import Catalog
    from penstock.rows import Rows
    from penstock.runtime import QueryHandle, RunError
    from penstock.session import Session

__all__ = [
    "Catalog",
    "Compilation",
    "CompileError",
    "Diagnostic",
    "QueryHandle",
    "RemoteError",
    "RemoteSession",
    "Rows",
    "RunError",
    "Session",
    "compile",
    "connect",
]

_HOMES = {
    "Catalog": "penstock.planner",
    "Compilation": "penstock.compilation",
    "CompileError": "penstock.diagnostics",
    "Diagnostic": "penstock.diagnostics",
    "QueryHandle": "penstock.runtime",
    "RemoteError": "penstock.client",
    "RemoteSession": "penstock.client",
    "Rows": "penstock.rows",
    "RunError": "penstock.runtime",
    "Session": "penstock.session",
    "compile": "penstock.compilation",
    "connect": "penstock.connections",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
