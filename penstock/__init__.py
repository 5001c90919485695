"""Penstock: streaming SQL for Apache Spark. `compile` checks a script, `connect` runs it.

Importing this package loads neither the compiler nor pyspark; both come with the first use of a name that needs them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.compilation import Compilation, compile
    from penstock.diagnostics import CompileError, Diagnostic
    from penstock.planner import Catalog
    from penstock.runtime import QueryHandle, RunError
    from penstock.session import Session, connect

__all__ = [
    "Catalog",
    "Compilation",
    "CompileError",
    "Diagnostic",
    "QueryHandle",
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
    "RunError": "penstock.runtime",
    "Session": "penstock.session",
    "compile": "penstock.compilation",
    "connect": "penstock.session",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
