"""Tables of DuckDB."""

from penstock.runtime.connectors.databases import CONNECTOR

__all__ = ["CONNECTOR"]
