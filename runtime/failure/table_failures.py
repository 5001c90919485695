"""Errors of the library that reads tables of databases -> findings. Needs no Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.diagnostics.source import Span
from penstock.kit.databases.faults import TableError
from penstock.kit.databases.target_table import TargetTable
from penstock.runtime.failure.errors import RunError, explain_unread


@contextmanager
def coded_reads(target: TargetTable, span: Span | None) -> Iterator[None]:
    """Raises RunError in place of the errors of the library that reads tables."""
    try:
        yield
    except TableError as error:
        raise RunError([explain_unread(target.name, str(error), error.hint, span)]) from None
