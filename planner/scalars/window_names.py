"""What other systems call windows and their parts, and what it is called here."""

from __future__ import annotations

import re

from sqlglot import exp

from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.names import N005
from penstock.parser import ast

KINDS = tuple(ast.WindowKind.__members__)
PARTS = ("START", "END", "ROWTIME", "PROCTIME")
CALLED_HERE = (*KINDS, *(f"{kind}_{part}" for kind in KINDS for part in PARTS if part != "PROCTIME"))
"""Functions that are understood beside a window in GROUP BY."""
PART_COLUMNS = {
    "START": "window_start",
    "END": "window_end",
    "ROWTIME": "window_end - INTERVAL '1' MILLISECOND",
    "PROCTIME": "window_end - INTERVAL '1' MILLISECOND",
}
"""The same over the columns of a window. The last instant of a window is the next to a time when it ran."""
NO_CLOCK = "The processing time of a window depends on when a micro-batch runs."


def split_part(name: str) -> tuple[str, str]:
    """The kind of window and the part of it that a function gives, such as TUMBLE and START; two "" for others."""
    kind, _, part = name.upper().rpartition("_")
    return (kind, part) if kind in KINDS and part in PARTS else ("", "")


def explain_window_call(call: exp.Expression, *, has_columns: bool) -> Diagnostic | None:
    """The finding for a function of windows where there is no window; None for other functions.

    `has_columns`: whether the rows have the columns of a window.
    """
    name = call.name.upper()
    kind, part = split_part(name)
    found = N005.at(call.meta.get("span"), name=name)
    if name in KINDS:
        reason = "It makes windows, and stands in GROUP BY or in FROM."
        return found.because(reason).with_hint(f"GROUP BY {name}(…) gives each group window_start and window_end")
    if not kind:
        return None
    found = found.because(NO_CLOCK if part == "PROCTIME" else f"It belongs to the window of GROUP BY {kind}(…).")
    if has_columns:
        return found.with_sql(PART_COLUMNS[part])
    return found.with_hint(f"GROUP BY {kind}(…) gives each group {PART_COLUMNS[part]}")


def is_processing_time(name: str) -> bool:
    """Whether a column is called as Flink's scripts call their columns of processing time."""
    return re.fullmatch(r"proc(ess(ing)?)?_?(time|ts)|ptime", name, re.IGNORECASE) is not None
