"""EXPLAIN WHY -> its answer."""

from __future__ import annotations

import json

from penstock.server.engine_protocol import REASON_COLUMNS, StatementAnswer
from penstock.server.running.live_query import LiveQuery


def answer_why(name: str, live: LiveQuery) -> StatementAnswer:
    """What holds back the rows of a query."""
    rows = tuple((each.cause, each.text, json.dumps(dict(each.numbers))) for each in live.list_reasons())
    notices = () if rows else (f"nothing holds back the rows of {name}",)
    return StatementAnswer("EXPLAIN", REASON_COLUMNS, rows, notices)
