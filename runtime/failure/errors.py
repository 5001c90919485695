"""What a run that failed raises."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from penstock.diagnostics.codes.running import R066, R074, R077
from penstock.diagnostics.diagnostic import Diagnostic, FindingsError
from penstock.diagnostics.source import Span

BEGIN_ANEW = "begin anew: add --overwrite, which removes the checkpoint and the files that the query has written"
"""A hint that leads out: with --reset alone and the files that are there, the next run would be refused (R014)."""
NO_KEY = "the key of a row is NULL"
"""Why a row of a table is no message."""


class RunError(FindingsError):
    """Queries could not start, or stopped before their end. `diagnostics` holds at least one error."""


def check_all(checks: Iterable[Callable[[], None]]) -> None:
    """Raises RunError with what all of the checks find, so that a user mends it at once."""
    found: list[Diagnostic] = []
    for check in checks:
        try:
            check()
        except RunError as error:
            found += error.diagnostics
    if found:
        raise RunError(found)


def explain_loss(query: str, reason: str) -> Diagnostic:
    """The finding that records of a topic are gone."""
    hint = f"{BEGIN_ANEW}, which reads what is left; a longer retention.ms of the topic avoids this"
    return R077.at(None, query=query, reason=reason).with_hint(hint)


def explain_no_key(query: str, span: Span | None = None) -> Diagnostic:
    """The finding that a row of a table has no key, and so is no message of a topic."""
    return R074.at(span, "", query=query, reason=NO_KEY).with_hint("WHERE … IS NOT NULL, or key_format = 'json'")


def explain_unread(table: str, message: str, hint: str | None, span: Span | None = None) -> Diagnostic:
    """The finding that a table of a database cannot be read."""
    return R066.at(span, table=table, reason=" ".join(message.split())).with_hint(hint)
