"""Program -> running queries. The only room that imports pyspark."""

from penstock.runtime.connectors.memory import Kept
from penstock.runtime.errors import RunError
from penstock.runtime.queries import QueryHandle
from penstock.runtime.session import RuntimeSession, connect
from penstock.runtime.short_runs import is_short
from penstock.runtime.small_reads import answer_small
from penstock.runtime.status import Cause, InputReport, QueryReport, Reason, Status
from penstock.runtime.table_reports import LookupReport, TableReport
from penstock.runtime.tables import output, show_rows
from penstock.runtime.times import moment_text, span_text
from penstock.runtime.why import list_reasons

__all__ = [
    "Cause",
    "InputReport",
    "Kept",
    "LookupReport",
    "QueryHandle",
    "QueryReport",
    "Reason",
    "RunError",
    "RuntimeSession",
    "Status",
    "TableReport",
    "answer_small",
    "connect",
    "is_short",
    "list_reasons",
    "moment_text",
    "output",
    "show_rows",
    "span_text",
]
