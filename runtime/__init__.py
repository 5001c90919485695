"""Program -> running queries. The only room that imports pyspark, which comes with the first name that needs it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.runtime.connectors.memory import Kept
    from penstock.runtime.doctor import list_versions
    from penstock.runtime.errors import RunError
    from penstock.runtime.field_account import explain_unseen
    from penstock.runtime.input_sizes import has_large_batches, is_short
    from penstock.runtime.kafka_counts import TopicCount, count_topics
    from penstock.runtime.query_handle import QueryHandle
    from penstock.runtime.session import RuntimeSession, connect
    from penstock.runtime.small_reads import answer_small
    from penstock.runtime.status import Cause, InputReport, QueryReport, Reason, Status
    from penstock.runtime.table_reports import LookupReport, TableReport
    from penstock.runtime.tables import PlainConsole, output, show_rows
    from penstock.runtime.times import moment_text, span_text
    from penstock.runtime.warm_up import write_archive
    from penstock.runtime.why import list_reasons
    from penstock.runtime.writable import explain_unwritable

__all__ = [
    "Cause",
    "InputReport",
    "Kept",
    "LookupReport",
    "PlainConsole",
    "QueryHandle",
    "QueryReport",
    "Reason",
    "RunError",
    "RuntimeSession",
    "Status",
    "TableReport",
    "TopicCount",
    "answer_small",
    "connect",
    "count_topics",
    "explain_unseen",
    "explain_unwritable",
    "has_large_batches",
    "is_short",
    "list_reasons",
    "list_versions",
    "moment_text",
    "output",
    "show_rows",
    "span_text",
    "write_archive",
]

_HOMES = {
    "Cause": "status",
    "InputReport": "status",
    "Kept": "connectors.memory",
    "LookupReport": "table_reports",
    "PlainConsole": "tables",
    "QueryHandle": "query_handle",
    "QueryReport": "status",
    "Reason": "status",
    "RunError": "errors",
    "RuntimeSession": "session",
    "Status": "status",
    "TableReport": "table_reports",
    "TopicCount": "kafka_counts",
    "answer_small": "small_reads",
    "connect": "session",
    "count_topics": "kafka_counts",
    "explain_unwritable": "writable",
    "has_large_batches": "input_sizes",
    "is_short": "input_sizes",
    "explain_unseen": "field_account",
    "list_reasons": "why",
    "list_versions": "doctor",
    "moment_text": "times",
    "output": "tables",
    "show_rows": "tables",
    "span_text": "times",
    "write_archive": "warm_up",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'penstock.runtime' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value
