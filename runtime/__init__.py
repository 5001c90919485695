"""Program -> running queries. The only room that imports pyspark."""

from penstock.runtime.connectors.memory import Kept
from penstock.runtime.errors import RunError
from penstock.runtime.ledger import InputReport, QueryReport, Status
from penstock.runtime.queries import QueryHandle
from penstock.runtime.session import RuntimeSession, connect
from penstock.runtime.table_reports import LookupReport, TableReport
from penstock.runtime.tables import output, show_rows

__all__ = [
    "InputReport",
    "Kept",
    "LookupReport",
    "QueryHandle",
    "QueryReport",
    "RunError",
    "RuntimeSession",
    "Status",
    "TableReport",
    "connect",
    "output",
    "show_rows",
]
