"""Cells of SQL in a notebook: `%load_ext penstock.notebook`, then `%%penstock`.

The first line may name the variable that holds the session, which is `session` otherwise, and seconds to watch the
queries: `%%penstock mine --wait 10`.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from penstock.diagnostics import Source, render, show_lines, show_text
from penstock.remote_read import is_read
from penstock.rows import Rows

if TYPE_CHECKING:
    from penstock.client import RemoteSession
    from penstock.session import Session

_STEP_SECONDS = 1.0


def load_ipython_extension(ipython: Any) -> None:
    """What `%load_ext` calls."""

    def run(line: str, cell: str) -> Rows | None:
        return run_cell(ipython.user_ns, line, cell)

    ipython.register_magic_function(run, "cell", "penstock")


def run_cell(names: dict[str, Any], line: str, cell: str) -> Rows | None:
    """Runs a cell. Prints findings, notices and queries; returns the rows of the last statement that has some."""
    parser = argparse.ArgumentParser("%%penstock", add_help=False)
    parser.add_argument("session", nargs="?", default="session")
    parser.add_argument("--wait", type=float, default=0, metavar="SECONDS")
    try:
        given = parser.parse_args(shlex.split(line))
    except SystemExit:  # it has said why, and would end the notebook
        return None
    session = names.get(given.session)
    if session is None or not hasattr(session, "submit"):
        print(f"{given.session} is no session; {given.session} = penstock.connect(…) makes one", file=sys.stderr)
        return None
    try:
        for failed in session.take_errors():
            print(render(failed), file=sys.stderr)  # from a query of an earlier cell
        rows, queries = run_statements(session, cell)
        watch_queries(queries, given.wait)
    except Exception as error:
        findings = getattr(error, "diagnostics", None)
        if findings is None and not hasattr(error, "hint"):
            raise
        for text in [render(finding) for finding in findings or ()] or [f"error: {show_lines(str(error))}"]:
            print(text, file=sys.stderr)
        return None
    return rows


def run_statements(session: Session | RemoteSession, sql: str) -> tuple[Rows | None, Sequence[Any]]:
    """The rows of the last statement that has some, and the queries that were started. Raises as the session does.

    Prints what else is answered: warnings, and the answers to SHOW, DESCRIBE and EXPLAIN.
    """
    if is_read(Source("<cell>", sql)):
        return session.sql(sql, "<cell>"), ()
    result = session.run(sql, "<cell>")
    if not isinstance(result, list):
        for warning in result.warnings:
            print(render(warning))
        for text in result.answers:
            print(text, end="")
        return None, result.queries
    for notice in (notice for answer in result for notice in answer.notices):
        print(f"warning: {show_lines(notice)}")
    found = [answer.rows for answer in result if answer.rows.columns]
    for rows in found[:-1]:
        print(rows)
    return found[-1] if found else None, [query for answer in result for query in answer.queries]


def watch_queries(queries: Sequence[Any], seconds: float) -> None:
    """Prints how queries are doing: once, and then each second for a while. Raises as their `status` does."""
    ends = time.monotonic() + seconds
    while True:
        text = "; ".join(show_status(query.status()) for query in queries)
        left = ends - time.monotonic()
        if left <= 0:
            break
        print(text, end="\r", flush=True)
        time.sleep(min(_STEP_SECONDS, left))
    if text:
        print(text)


def show_status(status: Any) -> str:
    """The status of a query, of this process or of a server, as one line."""
    ended = "stopped" if status.error is None else "failed"
    state = status.state.lower() if hasattr(status, "state") else "running" if status.running else ended
    counts = f"{status.rows:,} in, {status.out:,} out, {status.late:,} late, {status.rejected:,} rejected"
    # A query of a server that tries again has a code, too.
    code, message = (getattr(status, name, None) or getattr(status.error, name, None) for name in ("code", "message"))
    return show_text(f"{status.name}: {state}, {counts}" + (f"; {code}: {message}" if code else ""))
