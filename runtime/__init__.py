"""Program -> running queries. pyspark is imported with the first name of `__all__` that needs it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.runtime.checkpoint.writable import explain_unwritable
    from penstock.runtime.connectors.memory import Kept
    from penstock.runtime.early_checks import check_before_start
    from penstock.runtime.failure.errors import RunError
    from penstock.runtime.kafka.kafka_counts import TopicCount, count_topics
    from penstock.runtime.local_reads import answer_locally, answer_tables
    from penstock.runtime.progress.list_reasons import list_reasons
    from penstock.runtime.progress.plain_console import PlainConsole, output, show_rows
    from penstock.runtime.progress.seen_fields import explain_unseen
    from penstock.runtime.progress.status import Cause, InputAccount, QueryReport, Reason, Status
    from penstock.runtime.progress.table_reports import LookupReport, TableReport
    from penstock.runtime.progress.times import moment_text, span_text
    from penstock.runtime.query.input_sizes import has_large_batches, is_short
    from penstock.runtime.query.query_handle import QueryHandle
    from penstock.runtime.runtime_session import RuntimeSession, connect
    from penstock.runtime.spark.examine_spark import list_versions
    from penstock.runtime.spark.jars import list_packages
    from penstock.runtime.spark.packages import check_packages
    from penstock.runtime.spark.write_class_archive import write_archive

__all__ = [
    "Cause",
    "InputAccount",
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
    "answer_locally",
    "answer_tables",
    "check_before_start",
    "check_packages",
    "connect",
    "count_topics",
    "explain_unseen",
    "explain_unwritable",
    "has_large_batches",
    "is_short",
    "list_packages",
    "list_reasons",
    "list_versions",
    "moment_text",
    "output",
    "show_rows",
    "span_text",
    "write_archive",
]

_HOMES = {
    "Cause": "progress.status",
    "InputAccount": "progress.status",
    "Kept": "connectors.memory",
    "LookupReport": "progress.table_reports",
    "PlainConsole": "progress.plain_console",
    "QueryHandle": "query.query_handle",
    "QueryReport": "progress.status",
    "Reason": "progress.status",
    "RunError": "failure.errors",
    "RuntimeSession": "runtime_session",
    "Status": "progress.status",
    "TableReport": "progress.table_reports",
    "TopicCount": "kafka.kafka_counts",
    "answer_locally": "local_reads",
    "answer_tables": "local_reads",
    "check_before_start": "early_checks",
    "connect": "runtime_session",
    "check_packages": "spark.packages",
    "count_topics": "kafka.kafka_counts",
    "explain_unwritable": "checkpoint.writable",
    "has_large_batches": "query.input_sizes",
    "is_short": "query.input_sizes",
    "explain_unseen": "progress.seen_fields",
    "list_packages": "spark.jars",
    "list_reasons": "progress.list_reasons",
    "list_versions": "spark.examine_spark",
    "moment_text": "progress.times",
    "output": "progress.plain_console",
    "show_rows": "progress.plain_console",
    "span_text": "progress.times",
    "write_archive": "spark.write_class_archive",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'penstock.runtime' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value
