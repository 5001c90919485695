"""When operators send the rows that wait for the watermark."""

from __future__ import annotations

import pytest

from penstock.codegen.program import Closing
from penstock.compilation import compile

DECLARED = """
CREATE STREAM a (k INT, v INT, t TIMESTAMP, WATERMARK FOR t AS t - INTERVAL '10' SECOND)
WITH (connector = 'files', path = 'a', format = 'json');
CREATE STREAM b (k INT, v INT, t TIMESTAMP, WATERMARK FOR t AS t - INTERVAL '10' SECOND)
WITH (connector = 'files', path = 'b', format = 'json');
CREATE TABLE c (k INT PRIMARY KEY, v INT, t TIMESTAMP, WATERMARK FOR t AS t - INTERVAL '10' SECOND)
WITH (connector = 'files', path = 'c', format = 'json', retention = INTERVAL '1' DAY);
"""
SECOND, MINUTE = 1_000, 60_000
GROUPED = "SELECT STREAM k, window_start, COUNT(*) AS n FROM a GROUP BY k, {}"
JOINED = "SELECT STREAM a.k AS k, b.v AS v FROM a {} JOIN b ON a.k = b.k AND b.t BETWEEN a.t + {} AND a.t + {}"


@pytest.mark.parametrize(
    ("query", "closing"),
    [
        (GROUPED.format("TUMBLE(t, 5 MINUTES)"), Closing("window", 5 * MINUTE, 0)),
        (GROUPED.format("HOP(t, 2 MINUTES, 5 MINUTES)"), Closing("window", 2 * MINUTE, MINUTE)),
        (GROUPED.format("CUMULATE(t, 1 MINUTE, 5 MINUTES)"), Closing("window", MINUTE, 0)),
        (GROUPED.format("SESSION(t, 5 MINUTES)"), Closing("session", 0, 5 * MINUTE)),
        (JOINED.format("", "0 SECONDS", "5 MINUTES"), Closing("pane of the join", 5 * MINUTE, 5 * MINUTE)),
        (JOINED.format("RIGHT", "0 SECONDS", "5 MINUTES"), Closing("pane of the join", 5 * MINUTE, 0)),
        (JOINED.format("LEFT", "1 DAY", "25 HOURS"), Closing("row without a partner", 0, 25 * 60 * MINUTE)),
        (JOINED.format("", "1 DAY", "25 HOURS"), None),
        (
            "SELECT STREAM k, SUM(v) OVER (PARTITION BY k ORDER BY t RANGE BETWEEN 4 MINUTES PRECEDING AND 1 MINUTE "
            "FOLLOWING) AS s FROM a",
            Closing("pane of OVER", 5 * MINUTE, MINUTE),
        ),
        ("SELECT STREAM k, LAG(v, 1) OVER (PARTITION BY k ORDER BY t) AS before FROM a", Closing("row", 0, 0)),
        ("SELECT STREAM DISTINCT k, t FROM a", Closing("row", 0, 0)),
        (
            "SELECT STREAM a.k AS k, c.v AS v FROM a LEFT JOIN c FOR SYSTEM_TIME AS OF a.t AS c ON c.k = a.k",
            Closing("row", 0, 0),
        ),
        ("SELECT STREAM k FROM a WHERE v > 1", None),
    ],
)
def test_of_streams(query: str, closing: Closing | None) -> None:
    (made,) = compile(f"{DECLARED} CREATE STREAM made AS {query};").program.queries
    assert made.closing == closing


@pytest.mark.parametrize(
    ("query", "closing"),
    [
        ("SELECT k, COUNT(*) AS n FROM a GROUP BY k, TUMBLE(t, 5 MINUTES)", None),
        (
            "SELECT k, COUNT(*) AS n FROM a GROUP BY k, TUMBLE(t, 5 MINUTES) EMIT FINAL",
            Closing("window", 5 * MINUTE, 0),
        ),
        ("SELECT k, COUNT(*) AS n FROM a GROUP BY k", None),
        ("SELECT k, v FROM c", None),
    ],
)
def test_of_tables(query: str, closing: Closing | None) -> None:
    (made,) = compile(f"{DECLARED} CREATE TABLE made AS {query};").program.queries
    assert made.closing == closing


@pytest.mark.parametrize(("verb", "closing"), [("SELECT STREAM", Closing("joined window", 0, 0)), ("SELECT", None)])
def test_of_joined_windows(verb: str, closing: Closing | None) -> None:
    windows = "(SELECT k, COUNT(*) AS n FROM a GROUP BY k, TUMBLE(t, 5 MINUTES))"
    joined = f"{verb} x.k AS k, x.window_start, x.n AS n FROM {windows} x LEFT JOIN {windows} y ON x.k = y.k"
    kind = "STREAM" if closing else "TABLE"
    *_, reader = compile(f"{DECLARED} CREATE {kind} made AS {joined};").program.queries
    assert reader.closing == closing


def test_a_grace_period_holds_the_watermark_back() -> None:
    grouped = GROUPED.format("TUMBLE(t, 5 MINUTES) GRACE PERIOD 1 MINUTE")
    (made,) = compile(f"{DECLARED} CREATE STREAM made AS {grouped};").program.queries
    assert [(each.delay, each.grace) for each in made.watermark_inputs] == [(10 * SECOND, MINUTE)]
