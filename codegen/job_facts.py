"""What the writer of jobs and their library share: names, and facts for machines that lie in JSON beside the SQL."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.codegen.program import Closing, WatermarkInput
from penstock.codegen.record_parsing import Columns
from penstock.codegen.table_change import TableChange

ARCHIVE = "kit.zip"
PACKAGE = "penstock_kit"
"""The package in the archive. It has another name than Penstock, so that an installed one is never in its way."""
TEXTS = ("sql", "order", "newest", "fold", "merge", "schema")
"""The fields of views that are Spark SQL, or SQL of DuckDB. Each lies in a file."""


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


def name_text(view: str, field: str) -> str:
    """The name of the file that has a text of a view."""
    return f"{view}.sql" if field == "sql" else f"{view}.{field}.sql"
