"""Queries that failed while nobody looked: who leaves their session is told."""

from __future__ import annotations


def report_errors(failure: Exception | None, current: BaseException | None) -> None:
    """Raises the failure of queries, or notes it on the exception that is on its way already."""
    if failure is None:
        return
    if current is None:
        raise failure
    current.add_note(f"queries of this session failed, too: {failure}")
