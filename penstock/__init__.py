"""Penstock: streaming SQL for Apache Spark. `compile` checks a script, `connect` runs it.

Importing this package loads neither the compiler nor pyspark; both come with the first use of a name that needs them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.async_session import AsyncQuery, AsyncSession
    from penstock.client import RemoteError, RemoteQuery, RemoteSession
    from penstock.compilation import Compilation, compile
    from penstock.connections import connect, connect_async
    from penstock.diagnostics import CompileError, Diagnostic, PackageNeededError
    from penstock.planner import Catalog
    from penstock.rows import Rows
    from penstock.runtime import QueryHandle, QueryReport, RunError, Status
    from penstock.session import ScriptResult, Session

__all__ = [
    "AsyncQuery",
    "AsyncSession",
    "Catalog",
    "Compilation",
    "CompileError",
    "Diagnostic",
    "PackageNeededError",
    "QueryHandle",
    "QueryReport",
    "RemoteError",
    "RemoteQuery",
    "RemoteSession",
    "Rows",
    "RunError",
    "ScriptResult",
    "Session",
    "Status",
    "compile",
    "connect",
    "connect_async",
]

_HOMES = {
    "AsyncQuery": "penstock.async_session",
    "AsyncSession": "penstock.async_session",
    "Catalog": "penstock.planner",
    "Compilation": "penstock.compilation",
    "CompileError": "penstock.diagnostics",
    "Diagnostic": "penstock.diagnostics",
    "PackageNeededError": "penstock.diagnostics",
    "QueryHandle": "penstock.runtime",
    "QueryReport": "penstock.runtime",
    "RemoteError": "penstock.client",
    "RemoteQuery": "penstock.client",
    "RemoteSession": "penstock.client",
    "Rows": "penstock.rows",
    "RunError": "penstock.runtime",
    "ScriptResult": "penstock.session",
    "Session": "penstock.session",
    "Status": "penstock.runtime",
    "compile": "penstock.compilation",
    "connect": "penstock.connections",
    "connect_async": "penstock.connections",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
