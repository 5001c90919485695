"""Each function that OVER allows, over frames of every kind: it is refused with a code, or lowered for DuckDB."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import accumulate, product

import duckdb
import pytest

import penstock
from penstock.codegen.program import BucketView, PaneView
from penstock.diagnostics import CompileError
from penstock.planner.functions import FUNCTIONS

DECLARED = """
CREATE STREAM s (k BIGINT KEY, b BOOLEAN, i INT, d DECIMAL(10,2), w DECIMAL(38,30), e DECIMAL(38,37), x DOUBLE,
  t STRING, time TIMESTAMP, arr ARRAY<INT>, m MAP<STRING, INT>, WATERMARK FOR time AS time - 1 SEC)
WITH (connector = 'files', path = 's', format = 'json');
"""
OVER_FUNCTIONS = [function.name for function in FUNCTIONS if function.framing is not None]
ARGUMENTS = (
    *("", "*", "b", "i", "d", "w", "e", "x", "t", "time", "arr", "NULL", "time - time", "t, i", "m, x", "i, NULL"),
    *("i, 1, 5", "t, 2, NULL", "i, 9223372036854775807"),
)
HEAD = f"{DECLARED}SELECT STREAM "
KEYED = "(PARTITION BY k ORDER BY time"
FRAMES = {
    "back": f"{KEYED} RANGE 1 MIN PRECEDING)",
    "forward": f"{KEYED} RANGE BETWEEN CURRENT ROW AND 1 MIN FOLLOWING)",
    "both ways": f"{KEYED} RANGE BETWEEN 1 MIN PRECEDING AND 1 MIN FOLLOWING)",
    "before": f"{KEYED} RANGE BETWEEN 2 MIN PRECEDING AND 1 MIN PRECEDING)",
    "behind": f"{KEYED} RANGE BETWEEN 1 MIN FOLLOWING AND 2 MIN FOLLOWING)",
    "its own time": f"{KEYED} RANGE CURRENT ROW)",
    "rows": f"{KEYED} ROWS 2 PRECEDING)",
    "rows before": f"{KEYED} ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING)",
    "one row": f"{KEYED} ROWS CURRENT ROW)",
    "none": f"{KEYED})",
    "a time": "(PARTITION BY time ORDER BY i)",
}
AWAY = {
    **dict.fromkeys(("back", "before", "rows", "rows before"), ("LAG",)),
    **dict.fromkeys(("forward", "behind"), ("LEAD",)),
    "both ways": ("LAG", "LEAD"),
}
"""The frames in which there are rows to look back or ahead for."""
FORMS = {
    "plain": "{name}({arguments})",
    "distinct": "{name}(DISTINCT {arguments})",
    "filtered": "{name}({arguments}) FILTER (WHERE b)",
}


def accepted(calls: Sequence[str], over: str) -> list[str]:
    """The calls that the planner takes: it tells all those that are wrong at once."""
    calls = list(calls)
    while calls:
        items = [f"{call} OVER {over} IS NULL" for call in calls]
        starts = list(accumulate((len(item) + 2 for item in items), initial=len(HEAD)))
        try:
            penstock.compile(f"{HEAD}{', '.join(items)} FROM s")
        except CompileError as refused:
            faults = (found for found in refused.diagnostics if found.severity == "error")
            wrong = {bisect_right(starts, found.labels[0].span.start) - 1 for found in faults}
            if not wrong & set(range(len(calls))):
                raise
            calls = [call for place, call in enumerate(calls) if place not in wrong]
        else:
            break
    return calls


@cache
def well_typed(form: str) -> tuple[str, ...]:
    """The calls that are taken over a frame in which every function finds rows."""
    calls = [form.format(name=name, arguments=given) for name, given in product(OVER_FUNCTIONS, ARGUMENTS)]
    return tuple(accepted(calls, FRAMES["both ways"]))


@pytest.mark.parametrize(
    ("form", "frame"),
    [*(("plain", frame) for frame in FRAMES), *product(("distinct", "filtered"), ("back", "rows", "a time"))],
)
def test_what_is_accepted_is_lowered(form: str, frame: str) -> None:
    calls = accepted(well_typed(FORMS[form]), FRAMES[frame])
    if form == "plain":
        known = {"none": {"LAG"}, "a time": {"RANK", "ROW_NUMBER", "DENSE_RANK"}}
        names = {call.partition("(")[0] for call in calls}
        assert names >= known.get(frame, {"SUM", "COUNT_IF", "MAX_BY", *AWAY.get(frame, ())})
        assert frame in known or not {"LAG", "LEAD"} & (names - {*AWAY.get(frame, ())})
    if calls:
        items = ", ".join(f"{call} OVER {FRAMES[frame]} IS NULL" for call in calls)
        views = [view for query in penstock.compile(f"{HEAD}{items} FROM s").program.queries for view in query.views]
        asked = [view for view in views if isinstance(view, PaneView | BucketView)]
        assert asked
        texts = [text for view in asked for text in (view.order, view.sql) if text]
        assert all(len(duckdb.extract_statements(text)) == 1 for text in texts)


@pytest.mark.parametrize("function", ["LAG", "LEAD"])
def test_a_row_that_is_very_far_away_is_in_no_frame(function: str) -> None:
    """DuckDB counts places as BIGINT, and fails where a sum is none."""
    sql = f"{HEAD}{function}(i, 9223372036854775807) OVER {FRAMES['both ways']} AS v FROM s"
    (view,) = (each for each in penstock.compile(sql).program.queries[0].views if isinstance(each, PaneView))
    with duckdb.connect() as connection:
        given = ", ".join(f"1::BIGINT AS {name}" for name in ("place", "pane", '"begin"', *view.given))
        connection.execute(f"CREATE VIEW rows AS SELECT {given}")
        assert connection.execute(view.sql).fetchall() == [(1, None)]
