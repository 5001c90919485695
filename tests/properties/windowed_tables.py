"""Hypothesis strategies: queries over windowed tables, joined with each other and with tables, and ranked."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

COUNTED = "SELECT id, COUNT(*) AS n, SUM(v) AS v FROM {stream} WHERE id IS NOT NULL GROUP BY id, {window}"
WINDOWED = f"({COUNTED} RETENTION 1 DAY)"
ON_WINDOWS = {
    "INNER": ("", " AND b.window_start = a.window_start", " AND a.n < b.n"),
    "LEFT": (
        "",
        " AND b.window_end = a.window_end AND a.n < b.n",
        " AND b.window_start = a.window_start - 2 SEC",
        " AND b.window_end + 2 SEC = a.window_end",
        " AND b.window_start = a.window_start + 4 SEC AND b.v > 0",
    ),
    "RIGHT": ("", " AND b.window_start = a.window_start AND b.v > 0"),
    "FULL": ("", " AND b.window_start = a.window_start"),
}


@st.composite
def windowed(draw: st.DrawFn, kind: str) -> str:
    """Joins of windowed tables, of two or three."""
    window = draw(st.sampled_from(("TUMBLE(time, 2 SEC)", "HOP(time, 2 SEC, 4 SEC)")))
    a, b, c = (WINDOWED.format(stream=name, window=window) for name in ("s", "r", "s"))
    condition = draw(st.sampled_from(ON_WINDOWS[kind]))
    key = "COALESCE(a.id, b.id)"
    start = "COALESCE(a.window_start, b.window_start) AS window_start, " if kind == "FULL" else ""
    text = f"FROM {a} a {kind} JOIN {b} b ON a.id = b.id{condition}"
    if draw(st.booleans()):
        text += f" LEFT JOIN {c} c ON c.id = {key if kind == 'FULL' else 'b.id' if kind == 'RIGHT' else 'a.id'}"
    return f"SELECT {key} AS k, {start}a.n AS n, b.n AS m, b.v AS v {text}"


MIXED = (
    f"SELECT a.id AS id, a.n AS n, t.v AS v FROM {WINDOWED} a LEFT JOIN t ON a.id = t.id AND t.yes",
    f"SELECT t.id AS id, t.g AS g, a.n AS n FROM t LEFT JOIN {WINDOWED} a ON t.id = a.id AND a.window_start = t.time",
    f"SELECT id, SUM(n) AS n FROM ({COUNTED}) a GROUP BY id",
    f"SELECT id, n FROM ({COUNTED}) a WHERE n > 1",
)
mixed: SearchStrategy[str] = st.sampled_from(MIXED).map(
    lambda text: text.format(stream="s", window="TUMBLE(time, 2 SEC)")
)
"""Windowed tables with tables, and groups and filters of them."""

RANKED_WINDOWS = (
    "SELECT id, n, window_start FROM ({counted}) a QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start"
    " ORDER BY n DESC, v NULLS LAST) <= 2",
    "SELECT id, n, RANK() OVER (PARTITION BY window_start, window_end, n > 1 ORDER BY v DESC NULLS LAST) AS r"
    " FROM ({counted}) a",
    "SELECT id, n FROM ({counted}) a QUALIFY DENSE_RANK() OVER (PARTITION BY id ORDER BY n DESC) = 1",
    "SELECT id, n FROM ({counted}) a ORDER BY n DESC, window_start, id LIMIT 3",
    "SELECT id, COUNT(*) AS wins FROM (SELECT id, window_end FROM ({counted}) a QUALIFY RANK() OVER (PARTITION BY"
    " window_end ORDER BY n DESC) = 1) q GROUP BY id",
    "SELECT id, n, RANK() OVER (PARTITION BY window_end ORDER BY n) AS r, RANK() OVER (PARTITION BY id ORDER BY n) AS o"
    " FROM ({counted}) a",
)


@st.composite
def ranked_windows(draw: st.DrawFn) -> str:
    """Places of the rows of windowed tables."""
    window = draw(st.sampled_from(("TUMBLE(time, 2 SEC)", "HOP(time, 2 SEC, 4 SEC)", "CUMULATE(time, 1 SEC, 2 SEC)")))
    return draw(st.sampled_from(RANKED_WINDOWS)).format(counted=COUNTED.format(stream="s", window=window))
