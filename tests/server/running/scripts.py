"""Statements as a server gets them."""

from __future__ import annotations

from pathlib import Path

from penstock.diagnostics import Source
from penstock.parser import list_statements
from penstock.server.running.home import Home
from penstock.server.running.live_script import LiveDefinition, LiveScript

HOME = Home("postgresql://engine@db/penstock", None, 100)
HOURS = (
    "CREATE TABLE hourly AS SELECT window_start, window_end, page, COUNT(*) AS n "
    "FROM TUMBLE(clicks, ts, INTERVAL '1' HOUR) GROUP BY page, window_start, window_end EMIT CHANGES"
)


def declare_clicks(folder: Path | str = "/data") -> str:
    """A stream of files."""
    return (
        "CREATE STREAM clicks (id BIGINT, page STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) "
        f"WITH (connector = 'files', path = '{folder}', format = 'json')"
    )


def tell(
    script: LiveScript, text: str, number: int | None = None, taken: frozenset[str] = frozenset()
) -> LiveDefinition:
    """Plans a statement, and puts it into force."""
    [(statement, text)] = list_statements(Source("statement", text))
    number = len(script.definitions) + 1 if number is None else number
    planned = script.plan(statement, Source("statement", text), number, "ada", taken)
    if planned.replaced is not None:
        script.remove(planned.replaced)
    script.add(planned)
    return planned.definition
