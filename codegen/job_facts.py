"""What the writer of jobs and their library share: names, and facts for machines that lie in JSON beside the SQL."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass

from penstock.codegen.fingerprint import describe_computation
from penstock.codegen.program import AnyView, Closing, Input, RemoteView, SparkQuery, WatermarkInput
from penstock.codegen.record_parsing import Columns, Parsing
from penstock.codegen.table_change import TableChange

ARCHIVE = "kit.zip"
PACKAGE = "penstock_kit"
"""The package in the archive. It has another name than Penstock, so that an installed one is never in its way."""
TEXTS = ("sql", "order", "newest", "fold", "merge", "schema")
"""The fields of views that are Spark SQL, or SQL of DuckDB. Each lies in a file."""
_PARSED_OPTIONS = ("format", "key_format", "null", "header", "multi_line", "folder_columns")
"""The options that decide how records become rows."""


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """The fields of a SparkQuery that nobody edits, and the columns of the rows that are set aside, by input."""

    fingerprint: str
    contract_views: tuple[str, ...] = ()
    watermark_inputs: tuple[WatermarkInput, ...] = ()
    closing: Closing | None = None
    change: TableChange | None = None
    message_items: tuple[str, ...] = ()
    avro: tuple[tuple[str, Columns], ...] = ()
    rejected_columns: tuple[tuple[tuple[str, str], ...], ...] = ()
    digest: str = ""
    """What `digest_query` gave when the job was written."""
    records: tuple[tuple[str, str], ...] = ()
    """What `digest_records` gave of the inputs, by the files that say how their records become rows."""


def name_text(view: str, field: str) -> str:
    """The name of the file that has a text of a view."""
    return f"{view}.sql" if field == "sql" else f"{view}.{field}.sql"


def name_parsing(view: str, *, rejected: bool = False) -> str:
    """The file that says how the records of an input become rows, within the folder of its query."""
    return f"rejected/{view}.json" if rejected else f"{view}.json"


def digest_query(query: SparkQuery) -> str:
    """SHA-256 of all that a person can edit in a job and that a checkpoint depends on, down to the SQL of each view.

    Other options, such as limits of a micro-batch and addresses of brokers, are left out.
    """
    output = query.output
    inputs = [
        [each.view, each.name, each.connector, each.columns, each.identity, each.metadata, each.key, each.parsing]
        for each in query.inputs
    ]
    written = [output.connector, output.columns, output.identity, output.key, query.result, query.message_items]
    state = [query.mode, query.timed, query.key, query.store and query.store.value, query.partitions]
    told = [query.operation, query.numbered, query.watermark_inputs, query.closing, query.change]
    return _digest([query.name, inputs, [_describe_view(each) for each in query.views], written, state, told])


def digest_records(source: Input, parsing: Parsing | None) -> str:
    """SHA-256 of what decides how the records of an input become rows. Without `parsing` that is its connector."""
    if parsing is None:
        return _digest([source.connector])
    options = [each for each in source.options if each[0] in _PARSED_OPTIONS]
    columns = [source.columns, source.metadata, source.key]
    return _digest([source.connector, options, columns, source.ordered, source.tombstones, source.explained])


def _describe_view(view: AnyView) -> list[object]:
    if isinstance(view, RemoteView):
        return [view.name, view.source, *describe_computation(view)]
    return [type(view).__name__, *(value for name, value in asdict(view).items() if name != "metrics")]


def _digest(facts: object) -> str:
    return hashlib.sha256(json.dumps(facts, default=_open_part).encode()).hexdigest()


def _open_part(part: object) -> object:
    """A part of a program as plain data. The value of a secret option is none of it."""
    return asdict(part) if hasattr(part, "__dataclass_fields__") else repr(part)  # type: ignore[call-overload]
