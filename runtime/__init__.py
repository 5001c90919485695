"""Program -> running queries. The only room that imports pyspark."""

from penstock.runtime.errors import RunError
from penstock.runtime.ledger import InputReport, QueryReport, Status
from penstock.runtime.queries import QueryHandle
from penstock.runtime.session import Session, connect

__all__ = ["InputReport", "QueryHandle", "QueryReport", "RunError", "Session", "Status", "connect"]
