"""SHOW, DESCRIBE and EXPLAIN -> answers, without any change."""

from __future__ import annotations

import json
from typing import assert_never

from penstock.compilation import compile
from penstock.explain import answer_text
from penstock.planner import Catalog
from penstock.planner.plan import Explained, Listing
from penstock.server.engine import REASON_COLUMNS, StatementAnswer
from penstock.server.running.live_query import LiveQuery


def answer_from_catalog(text: str, catalog: Catalog) -> StatementAnswer:
    """The answer to SHOW, DESCRIBE or EXPLAIN over the relations of a catalog; raises CompileError."""
    [answer] = compile(text, catalog).answers
    match answer:
        case Listing():
            return StatementAnswer("SHOW", answer.headings, answer.rows)
        case Explained():
            lines = answer_text(answer).rstrip("\n").split("\n")
            return StatementAnswer("EXPLAIN", ("plan",), tuple((line,) for line in lines))
        case _:
            assert_never(answer)


def answer_why(name: str, live: LiveQuery) -> StatementAnswer:
    """What holds back the rows of a query."""
    rows = tuple((each.cause, each.text, json.dumps(dict(each.numbers))) for each in live.list_reasons())
    notices = () if rows else (f"nothing holds back the rows of {name}",)
    return StatementAnswer("EXPLAIN", REASON_COLUMNS, rows, notices)
